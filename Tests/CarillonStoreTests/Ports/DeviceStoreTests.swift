import CarillonCore
import CarillonTesting
import Testing

/// What ``DeviceStore`` promises.
@Suite(.stores) struct DeviceStoreTests {
    let scene = StoreScene.here

    @Test func `every kind of address is read back`() async throws {
        let addresses: [DeviceAddress] = [
            .apns(token: "740f47", appID: "app", environment: .production),
            .apns(token: "740f48", appID: "app", environment: .sandbox), .fcm(token: "a:b", appID: "app"), .log,
            .webhook(url: "https://example.org/hook?x=1"),
            .webpush(endpoint: "https://push.example.org/x", p256dh: "BA", auth: "AA"),
        ]
        for (number, address) in addresses.enumerated() {
            let locale = number == 0 ? "th-TH" : nil
            let device = Device("d\(number)", of: "a", address, locale: locale, at: .seconds(Int64(number)))
            #expect(try await scene.devices.putDevice(device, in: scene.network))
            #expect(try await scene.devices.device(device.id, in: scene.network) == device)
        }
    }

    @Test func `a device may belong to nobody`() async throws {
        for id in ["d1", "d2"] as [DeviceID] {
            var device = Device.log(id, of: .nobody)
            device.broadcasts = false
            #expect(try await scene.devices.putDevice(device, in: scene.network))
            #expect(try await scene.devices.device(id, in: scene.network) == device)
        }
        #expect(try await scene.directory.user(.nobody, in: scene.network) == nil)
        #expect(try await scene.devices.putDevice(.log("d1", of: "a"), in: scene.network) == false)
        #expect(try await scene.devices.device("d1", in: scene.network)?.userID == "a")
        #expect(try await scene.devices.device("d1", in: scene.network)?.broadcasts == true)
        #expect(try await scene.devices.deleteDevice("d2", ifOwnedBy: nil, in: scene.network))
    }

    @Test func `an unknown device is neither found nor deleted`() async throws {
        #expect(try await scene.devices.device("d", in: scene.network) == nil)
        #expect(try await scene.devices.deleteDevice("d", ifOwnedBy: nil, in: scene.network) == false)
        #expect(try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 1).isEmpty)
    }

    @Test func `a device belongs to the user who registered it last`() async throws {
        #expect(try await scene.devices.putDevice(.log("d", of: "a"), in: scene.network))
        #expect(try await scene.devices.putDevice(.log("d", of: "b"), in: scene.network) == false)
        #expect(try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 9).isEmpty)
        #expect(try await scene.devices.devices(of: "b", in: scene.network, after: nil, limit: 9).map(\.id) == ["d"])
    }

    @Test func `a token belongs to the device that was registered last`() async throws {
        let addresses: [(DeviceAddress, DeviceAddress)] = [
            (
                .apns(token: "AB", appID: "app", environment: .sandbox),
                .apns(token: "ab", appID: "app", environment: .production)
            ),
            (.fcm(token: "t", appID: "app"), .fcm(token: "t", appID: "app")),
            (
                .webpush(endpoint: "https://p.example/1", p256dh: "A", auth: "A"),
                .webpush(endpoint: "https://p.example/1", p256dh: "B", auth: "B")
            ),
        ]
        for (first, second) in addresses {
            for (id, address) in [("d1", first), ("d2", second)] as [(DeviceID, DeviceAddress)] {
                let device = Device(id, of: "of-\(id)", address, at: .seconds(0))
                _ = try await scene.devices.putDevice(device, in: scene.network)
            }
            #expect(try await scene.devices.device("d1", in: scene.network) == nil)
            #expect(try await scene.devices.device("d2", in: scene.network)?.userID == "of-d2")
        }
    }

    @Test func `a token of another provider or network is another token`() async throws {
        let apns = Device("d1", of: "a", .apns(token: "ab", appID: "x", environment: .sandbox), at: .seconds(0))
        let fcm = Device("d2", of: "a", .fcm(token: "ab", appID: "x"), at: .seconds(0))
        for device in [apns, fcm] { _ = try await scene.devices.putDevice(device, in: scene.network) }
        _ = try await scene.devices.putDevice(apns, in: scene.otherNetwork)
        #expect(try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 9).count == 2)
    }

    @Test func `webhooks and standard output are shared by any number of devices`() async throws {
        for id in ["d1", "d2"] as [DeviceID] {
            var device = Device.log(id, of: "a")
            _ = try await scene.devices.putDevice(device, in: scene.network)
            device.id = DeviceID(trusted: "w-\(id)")
            device.address = .webhook(url: "https://example.org")
            _ = try await scene.devices.putDevice(device, in: scene.network)
        }
        #expect(try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 9).count == 4)
    }

    @Test func `what was unregistered in a window of time can be restored`() async throws {
        let targets = [
            try await scene.target("d-1", of: "a"),
            try await scene.target("d-2", of: "a"),
            try await scene.target("d-3", of: "b", app: "other"),
        ]
        let start = WallClock.system.now()
        try await scene.enqueue(to: [targets])
        let group = try #require(try await scene.claim().first?.group)
        let records = targets.enumerated().map { index, target in
            let fence = Timestamp.seconds(60)
            let effect: DeviceEffect =
                index == 1
                ? .quarantine(ifRegisteredBefore: fence, error: "403")
                : .unregister(ifRegisteredBefore: fence, error: "410")
            return target.record(.unregistered, at: start, effect: effect)
        }
        _ = try await scene.queue.settle([Settlement(group: group, records: records, remainders: [])])
        let devices = scene.devices
        let (since, until) = (start - .seconds(60), start + .seconds(60))
        func restore(
            _ app: String?,
            _ provider: ProviderName = .fcm,
            since: Timestamp = since,
            until: Timestamp = until,
            in network: NetworkID = scene.network
        ) async throws -> Int {
            try await devices.restoreDevices(provider, appID: app, since: since, until: until, in: network)
        }
        #expect(try await restore("app", since: start - .seconds(3600), until: since) == 0)
        #expect(try await restore(nil, .apns) == 0)
        #expect(try await restore(nil, in: scene.otherNetwork) == 0)
        #expect(try await restore("app", since: until, until: since) == 0, "no time is between them")
        #expect(try await restore("app") == 2)
        let first = try await devices.device("d-1", in: scene.network)
        #expect(first?.state == .active)
        #expect(first?.error == nil)
        #expect(try await devices.device("d-3", in: scene.network)?.state == .unregistered)
        let (always, never) = (Timestamp(milliseconds: .max), Timestamp(milliseconds: .min))
        #expect(try await restore(nil, since: always, until: never) == 0)
        #expect(try await restore(nil, since: never, until: always) == 1)
        #expect(try await restore(nil) == 0)
    }

    @Test func `all of a window of time is restored, however many they are`() async throws {
        let count = 2_001
        let targets = try await inParallel(count) { try await scene.target("d-\($0)", of: "a") }
        try await scene.enqueue(to: [targets])
        let start = WallClock.system.now()
        let effect = DeviceEffect.unregister(ifRegisteredBefore: start, error: "410")
        let gone = Settlement.all(try await scene.claimOne(), .unregistered, effect: effect)
        _ = try await scene.queue.settle([gone])
        func restore() async throws -> Int {
            try await scene.devices.restoreDevices(
                .fcm,
                appID: nil,
                since: start - .seconds(60),
                until: start + .seconds(60),
                in: scene.network
            )
        }
        #expect(try await restore() == count)
        #expect(try await restore() == 0)
    }

    @Test func `a device is deleted only for its owner when one is named`() async throws {
        _ = try await scene.devices.putDevice(.log("d", of: "a"), in: scene.network)
        #expect(try await scene.devices.deleteDevice("d", ifOwnedBy: "b", in: scene.network) == false)
        #expect(try await scene.devices.deleteDevice("d", ifOwnedBy: nil, in: scene.otherNetwork) == false)
        #expect(try await scene.devices.device("d", in: scene.network) != nil)
        #expect(try await scene.devices.deleteDevice("d", ifOwnedBy: "a", in: scene.network))
        _ = try await scene.devices.putDevice(.log("d", of: "a"), in: scene.network)
        #expect(try await scene.devices.deleteDevice("d", ifOwnedBy: nil, in: scene.network))
    }

    @Test func `a user's devices are listed in pages by id`() async throws {
        for id in ["d3", "d1", "d2"] as [DeviceID] {
            _ = try await scene.devices.putDevice(.log(id, of: "a"), in: scene.network)
        }
        #expect(
            try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 2).map(\.id) == ["d1", "d2"]
        )
        #expect(try await scene.devices.devices(of: "a", in: scene.network, after: "d2", limit: 2).map(\.id) == ["d3"])
    }

    @Test func `the user of a device is in the directory, not knowing them`() async throws {
        _ = try await scene.devices.putDevice(.log("d", of: "a"), in: scene.network)
        #expect(try await scene.directory.user("a", in: scene.network) == Person(id: "a"))
        try await scene.accept(.user(.userUpdated, Person(id: "a", displayName: "Alice"), at: 0))
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Alice")
    }

    @Test func `registering the same tokens and ids at once neither fails nor leaves two`() async throws {
        _ = try await inParallel(60) { number in
            let address = DeviceAddress.fcm(token: "t\(number % 5)", appID: "app")
            let device = Device("d\(number % 4)", of: "u\(number % 3)", address, at: .seconds(Int64(number)))
            return try await scene.devices.putDevice(device, in: scene.network)
        }
        var tokens: [DeviceAddress] = []
        for user in ["u0", "u1", "u2"] as [UserID] {
            tokens += try await scene.devices.devices(of: user, in: scene.network, after: nil, limit: 99).map(\.address)
        }
        #expect(Set(tokens).count == tokens.count)
        #expect((1...4).contains(tokens.count))
    }

    @Test("imports and registrations of the same tokens and ids at once neither fail nor leave two")
    func importingAndRegisteringAtOnce() async throws {
        @Sendable func device(_ id: Int, token: Int, at number: Int) -> Device {
            let address = DeviceAddress.fcm(token: "t\(token % 6)", appID: "app")
            return Device("d\(id % 6)", of: "u\(number % 3)", address, at: .seconds(Int64(number)))
        }
        _ = try await inParallel(60) { number in
            guard number % 3 > 0 else {
                return try await scene.devices.putDevice(
                    device(number, token: number / 3, at: number),
                    in: scene.network
                )
            }
            // Tokens move between the devices of one import, those of the next one in the other direction.
            let step = number % 2 == 0 ? 1 : 5
            let records = (0..<6).map { ImportRecord.device(device($0 * step, token: $0 + number, at: number)) }
            try await scene.importing([records])
            return true
        }
        var devices: [Device] = []
        for user in ["u0", "u1", "u2"] as [UserID] {
            devices += try await scene.devices.devices(of: user, in: scene.network, after: nil, limit: 99)
        }
        #expect(Set(devices.map(\.address)).count == devices.count)
        #expect(Set(devices.map(\.id)).count == devices.count)
        #expect((1...6).contains(devices.count))
    }

    @Test func `a device whose token an import gives to another one is gone`() async throws {
        func device(_ id: DeviceID, _ token: String) -> ImportRecord {
            let address = DeviceAddress.fcm(token: token, appID: "app")
            return .device(Device(id, of: "a", address, at: .seconds(0)))
        }
        try await scene.importing([[device("d1", "x"), device("d2", "y"), device("d3", "z")]])
        // As if one came after the other: d1 gives its new token to d2 and is gone; d3 has another one by then.
        try await scene.importing([[device("d1", "v"), device("d2", "v"), device("d3", "w"), device("d3", "q")]])
        try await scene.importing([[device("d3", "r"), device("d4", "q"), device("d3", "s"), device("d5", "r")]])
        let devices = try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 9)
        #expect(devices.map(\.id) == ["d2", "d3", "d4", "d5"])
        #expect(devices.map(\.address) == ["v", "s", "q", "r"].map { .fcm(token: $0, appID: "app") })
    }
}
