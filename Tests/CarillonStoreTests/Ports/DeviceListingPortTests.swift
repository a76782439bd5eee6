import CarillonCore
import CarillonTesting
import Testing

/// What ``DeviceStore`` and ``TagStore`` promise of lists that are counted.
@Suite(.stores) struct DeviceListingPortTests {
    let scene = StoreScene.here

    private let apps: [DeviceSelection.App] = [.init(.fcm, "app"), .init(.apns, "app")]

    private func register(_ scene: StoreScene) async throws {
        let devices: [(id: DeviceID, user: UserID, address: DeviceAddress)] = [
            ("d1", "a", .fcm(token: "t1", appID: "app")), ("d2", "b", .fcm(token: "t2", appID: "app")),
            ("d3", "a", .apns(token: "a3", appID: "app", environment: .sandbox)),
            ("d4", .nobody, .fcm(token: "t4", appID: "app")), ("d5", "a", .fcm(token: "t5", appID: "other")),
            ("d6", "a", .log),
        ]
        for (id, user, address) in devices {
            let device = Device(id, of: user, address, at: .seconds(1))
            _ = try await scene.devices.putDevice(device, in: scene.network, by: .admin)
        }
    }

    @Test func `devices of apps are listed and counted by what is said of them`() async throws {
        try await register(scene)
        func list(_ selection: DeviceSelection, offset: Int = 0, limit: Int = 9) async throws -> ([DeviceID], Int) {
            let page = try await scene.devices.devices(selection, in: scene.network, offset: offset, limit: limit)
            return (page.items.map(\.id), page.total)
        }
        _ = try await scene.tags.subscribe(.device("d2"), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
        _ = try await scene.tags.subscribe(.user("a"), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
        #expect(try await list(DeviceSelection(apps: apps)) == (["d1", "d2", "d3", "d4"], 4))
        #expect(try await list(DeviceSelection(apps: apps), offset: 1, limit: 2) == (["d2", "d3"], 4))
        #expect(try await list(DeviceSelection(apps: apps), offset: 9) == ([], 4))
        #expect(try await list(DeviceSelection(apps: [])) == ([], 0))
        #expect(try await list(DeviceSelection(apps: [.init(.apns, "app")])) == (["d3"], 1))
        #expect(try await list(DeviceSelection(apps: apps, owner: "a")) == (["d1", "d3"], 2))
        #expect(try await list(DeviceSelection(apps: apps, owner: .nobody)) == (["d4"], 1))
        #expect(try await list(DeviceSelection(apps: apps, device: "d2")) == (["d2"], 1))
        #expect(try await list(DeviceSelection(apps: apps, device: "d5")) == ([], 0))
        #expect(try await list(DeviceSelection(apps: apps, tag: "t")) == (["d2"], 1))
        #expect(try await list(DeviceSelection(apps: apps, owner: "b", tag: "t")) == (["d2"], 1))
        #expect(try await list(DeviceSelection(apps: apps, device: "d1", tag: "t")) == ([], 0))
        #expect(try await list(DeviceSelection(apps: apps, broadcasts: false)) == ([], 0))
        let elsewhere = try await scene.devices.devices(
            DeviceSelection(apps: apps),
            in: scene.otherNetwork,
            offset: 0,
            limit: 9
        )
        #expect(elsewhere.items.isEmpty && elsewhere.total == 0)
    }

    @Test func `what devices subscribe to is listed and counted`() async throws {
        try await register(scene)
        for (device, tag) in [("d2", "x"), ("d1", "y"), ("d1", "x"), ("d5", "x")] as [(DeviceID, TagID)] {
            _ = try await scene.tags.subscribe(.device(device), to: tag, in: scene.network, ifOwnedBy: nil, by: .admin)
        }
        _ = try await scene.tags.subscribe(.user("a"), to: "x", in: scene.network, ifOwnedBy: nil, by: .admin)
        func list(_ selection: DeviceSelection, offset: Int = 0, limit: Int = 9) async throws -> ([String], Int) {
            let page = try await scene.tags.subscriptions(
                of: selection,
                in: scene.network,
                offset: offset,
                limit: limit
            )
            return (page.items.map { "\($0.device) \($0.tag)" }, page.total)
        }
        #expect(try await list(DeviceSelection(apps: apps)) == (["d1 x", "d2 x", "d1 y"], 3))
        #expect(try await list(DeviceSelection(apps: apps), offset: 1, limit: 1) == (["d2 x"], 3))
        #expect(try await list(DeviceSelection(apps: apps, tag: "x")) == (["d1 x", "d2 x"], 2))
        #expect(try await list(DeviceSelection(apps: apps, device: "d1")) == (["d1 x", "d1 y"], 2))
        #expect(try await list(DeviceSelection(apps: apps, owner: "b")) == (["d2 x"], 1))
        #expect(try await list(DeviceSelection(apps: apps, device: "d2", tag: "y")) == ([], 0))
        #expect(try await list(DeviceSelection(apps: apps, owner: "a", tag: "y")) == (["d1 y"], 1))
        #expect(try await list(DeviceSelection(apps: [])) == ([], 0))
        try await scene.tags.deleteTag("x", in: scene.network)
        #expect(try await list(DeviceSelection(apps: apps)) == (["d1 y"], 1))
    }

    @Test func `only its owner, where one is named, has a device take part in what everyone gets`() async throws {
        try await register(scene)
        func set(_ takesPart: Bool, of id: DeviceID, ifOwnedBy owner: UserID? = nil) async throws -> Bool {
            try await scene.devices.setBroadcasts(takesPart, of: id, ifOwnedBy: owner, in: scene.network)
        }
        #expect(try await !set(false, of: "unknown"))
        #expect(try await !set(false, of: "d1", ifOwnedBy: "b"))
        #expect(try await scene.devices.device("d1", in: scene.network)?.broadcasts == true)
        #expect(try await set(false, of: "d1", ifOwnedBy: "a"))
        #expect(try await set(false, of: "d4", ifOwnedBy: .nobody))
        #expect(try await scene.devices.device("d1", in: scene.network)?.broadcasts == false)
        let left = try await scene.devices.devices(
            DeviceSelection(apps: apps, broadcasts: false),
            in: scene.network,
            offset: 0,
            limit: 9
        )
        #expect(left.items.map(\.id) == ["d1", "d4"])
        #expect(try await set(true, of: "d1"))
        #expect(try await scene.devices.device("d1", in: scene.network)?.broadcasts == true)
    }
}
