import CarillonCore
import CarillonTesting
import Testing

extension DeviceStoreTests {
    @Test func `a user takes another's device over with its own address only`() async throws {
        let devices = scene.devices
        #expect(try await devices.putDevice(.phone("d", of: "a", token: "t1"), in: scene.network, by: .user))
        for stranger in [Device.phone("d", of: "b", token: "t2"), .log("d", of: "b")] {
            await #expect(throws: DeviceTaken()) {
                try await devices.putDevice(stranger, in: scene.network, by: .user)
            }
        }
        #expect(try await devices.device("d", in: scene.network)?.userID == "a")
        #expect(try await devices.putDevice(.phone("d", of: "b", token: "t1"), in: scene.network, by: .user) == false)
        #expect(try await devices.device("d", in: scene.network)?.userID == "b")
        #expect(try await devices.putDevice(.phone("d", of: "b", token: "t3"), in: scene.network, by: .user) == false)
        #expect(try await devices.putDevice(.phone("d", of: "c", token: "t4"), in: scene.network, by: .admin) == false)
        #expect(try await devices.putDevice(.phone("other", of: "a", token: "t4"), in: scene.network, by: .user))
        #expect(try await devices.device("d", in: scene.network) == nil)
        try await scene.unregister("other", of: "a", token: "t4")
        #expect(
            try await devices.putDevice(.phone("other", of: "b", token: "t5"), in: scene.network, by: .user) == false
        )
    }

    @Test func `what was read to be nobody's is anybody's to have, and what is the same device its new user's`()
        async throws
    {
        let devices = scene.devices
        func put(_ device: Device, replacing former: ReplaceableDevice) async throws -> Bool {
            try await devices.putDevice(device, replacing: former, in: scene.network, by: .user)
        }
        let nobodys = Device.phone("d", of: .nobody, token: "t1")
        #expect(try await put(nobodys, replacing: .only(nil)))
        let alices = Device.phone("d", of: "a", token: "t2")
        await #expect(throws: DeviceTaken()) { try await put(alices, replacing: .anyOfTheirs) }
        await #expect(throws: DeviceChanged()) { try await put(alices, replacing: .only(nil)) }
        #expect(try await put(alices, replacing: .only(nobodys)) == false)
        let bobs = Device.phone("d", of: "b", token: "t3")
        await #expect(throws: DeviceTaken()) { try await put(bobs, replacing: .only(alices)) }
        await #expect(throws: DeviceChanged()) { try await put(bobs, replacing: .same(as: nobodys)) }
        _ = try await scene.tags.subscribe(.device("d"), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
        #expect(try await put(bobs, replacing: .same(as: alices)) == false)
        #expect(try await devices.device("d", in: scene.network)?.userID == "b")
        func subscribers() async throws -> [Subscriber] {
            try await scene.tags.subscribers(of: "t", in: scene.network, after: nil, limit: 9)
        }
        #expect(try await subscribers() == [.device("d")], "it is the device that subscribes")
        #expect(try await devices.putDevice(.phone("d", of: "c", token: "t4"), in: scene.network, by: .admin) == false)
        #expect(try await subscribers().isEmpty)
    }

    @Test func `who may take over anybody's device has it at once, or leaves it as it was`() async throws {
        try await scene.setLimits { $0.devicesPerUser = 1 }
        func takeOver(of user: UserID) async throws -> Bool {
            let device = Device.phone("d", of: user, token: "of-\(user)")
            return try await scene.devices.putDevice(device, replacing: .anybodys, in: scene.network, by: .user)
        }
        let former = Device.phone("d", of: "a", token: "t1")
        #expect(try await scene.devices.putDevice(former, in: scene.network, by: .user))
        _ = try await scene.tags.subscribe(.device("d"), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
        #expect(try await scene.devices.putDevice(.log("other", of: "full"), in: scene.network, by: .user))
        await #expect(throws: LimitReached(.devicesPerUser, 1)) { try await takeOver(of: "full") }
        #expect(try await scene.devices.device("d", in: scene.network) == former)
        let filter = SubscriptionFilter(tag: "t")
        func subscriptions() async throws -> [Subscription] {
            try await scene.tags.subscriptions(matching: filter, in: scene.network, after: nil, limit: 9)
        }
        #expect(try await subscriptions().count == 1)
        #expect(try await takeOver(of: "b") == false)
        #expect(try await scene.devices.device("d", in: scene.network)?.userID == "b")
        #expect(try await subscriptions().isEmpty, "what the former one subscribed to is no concern of the next")
    }

    @Test func `a user has so many devices in use, an admin gives them more`() async throws {
        try await scene.setLimits { $0.devicesPerUser = 2 }
        func put(_ id: DeviceID, of user: UserID = "a", token: String, by writer: Writer = .user) async throws -> Bool {
            try await scene.devices.putDevice(.phone(id, of: user, token: token), in: scene.network, by: writer)
        }
        #expect(try await put("d1", token: "t1"))
        #expect(try await put("d2", token: "t2"))
        await #expect(throws: LimitReached(.devicesPerUser, 2)) { try await put("d3", token: "t3") }
        #expect(try await scene.devices.device("d3", in: scene.network) == nil)
        // The same device, and the same phone under another id, are no more than there were.
        #expect(try await put("d2", token: "t2b") == false)
        #expect(try await put("d2c", token: "t2b"))
        #expect(try await put("d3", of: "b", token: "t3"))
        // What comes from another user counts.
        await #expect(throws: LimitReached.self) { try await put("d3", token: "t3") }
        #expect(try await put("d4", token: "t4", by: .admin))
        #expect(try await put("d4", token: "t4") == false)
        await #expect(throws: LimitReached.self) { try await put("d5", token: "t5") }
        _ = try await scene.devices.deleteDevice("d4", ifOwnedBy: nil, in: scene.network)
        _ = try await scene.devices.deleteDevice("d1", ifOwnedBy: nil, in: scene.network)
        #expect(try await put("d5", token: "t5"))
        try await scene.setLimits { $0.devicesPerUser = 1 }
        #expect(try await put("d5", token: "t5b") == false)
    }

    @Test func `devices that a user registers at once do not go over the limit`() async throws {
        try await scene.setLimits { $0.devicesPerUser = 5 }
        let written = try await inParallel(30) { number in
            try await scene.isWithinLimit {
                let device = Device.phone(DeviceID(trusted: "d\(number)"), of: "a", token: "t\(number)")
                _ = try await scene.devices.putDevice(device, in: scene.network, by: .user)
            }
        }
        #expect(written.count { $0 } == 5)
        #expect(try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 99).count == 5)
    }

    @Test func `what is unregistered makes room, the longest first`() async throws {
        try await scene.setLimits { $0.devicesPerUser = 3 }
        func put(_ id: DeviceID) async throws {
            _ = try await scene.devices.putDevice(.phone(id, of: "a", token: "of-\(id)"), in: scene.network, by: .user)
        }
        func ids() async throws -> [DeviceID] {
            try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 99).map(\.id)
        }
        for id in ["d2", "d3"] as [DeviceID] {
            try await put(id)
            try await scene.unregister(id, of: "a", token: "of-\(id)")
        }
        try await put("d4")
        try await put("d5")
        #expect(try await ids() == ["d3", "d4", "d5"])
        try await put("d6")
        #expect(try await ids() == ["d4", "d5", "d6"])
        await #expect(throws: LimitReached.self) { try await put("d7") }
    }

    @Test func `apps register so many devices for nobody, and neighbours theirs`() async throws {
        try await scene.setLimits { ($0.ownerlessDevices, $0.devicesPerUser) = (2, 1) }
        func put(
            _ id: DeviceID,
            of user: UserID = .nobody,
            token: String,
            in network: NetworkID? = nil,
            by writer: Writer = .user
        ) async throws -> Bool {
            let device = Device.phone(id, of: user, token: token)
            return try await scene.devices.putDevice(device, in: network ?? scene.network, by: writer)
        }
        #expect(try await put("d1", token: "t1"))
        #expect(try await put("d2", token: "t2"))
        await #expect(throws: LimitReached(.ownerlessDevices, 2)) { try await put("d3", token: "t3") }
        #expect(try await scene.devices.device("d3", in: scene.network) == nil)
        // The same device, and the same phone under another id, are no more than there were.
        #expect(try await put("d2", token: "t2b") == false)
        #expect(try await put("d2c", token: "t2b"))
        #expect(try await put("d3", of: "a", token: "t3"), "somebody's is not nobody's")
        #expect(try await put("d3", token: "t3") == false, "given up, it is not kept by who had it")
        _ = try await scene.devices.deleteDevice("d3", ifOwnedBy: nil, in: scene.network)
        #expect(try await put("neighbour", token: "t3", in: scene.otherNetwork))
        #expect(try await put("d4", token: "t4", by: .admin))
        #expect(try await put("d4", token: "t4") == false)
        for id in ["d1", "d4"] as [DeviceID] {
            await #expect(throws: LimitReached.self) { try await put("d5", token: "t5") }
            _ = try await scene.devices.deleteDevice(id, ifOwnedBy: nil, in: scene.network)
        }
        #expect(try await put("d5", token: "t5"))
    }

    @Test func `webhooks name so many servers, whoever registers them`() async throws {
        try await scene.setLimits { $0.webhookHosts = 2 }
        func put(_ id: DeviceID, _ host: String) async throws {
            _ = try await scene.devices.putDevice(.webhook(id, at: host), in: scene.network, by: .admin)
        }
        try await put("d1", "a.example")
        try await put("d2", "b.example")
        try await put("d3", "b.example")
        await #expect(throws: LimitReached(.webhookHosts, 2)) { try await put("d4", "c.example") }
        await #expect(throws: LimitReached.self) { try await put("d2", "b.example:8443") }
        #expect(try await scene.devices.device("d4", in: scene.network) == nil)
        // The only one of its server moves to another.
        try await put("d1", "c.example")
        try await scene.setLimits { $0.webhookHosts = 1 }
        try await put("d4", "c.example")
        await #expect(throws: LimitReached.self) { try await put("d5", "d.example") }
        _ = try await scene.devices.putDevice(.webhook("d1", at: "d.example"), in: scene.otherNetwork, by: .admin)
    }

    @Test func `servers that are added at once do not go over the limit`() async throws {
        try await scene.setLimits { $0.webhookHosts = 4 }
        let written = try await inParallel(20) { number in
            try await scene.isWithinLimit {
                let device = Device.webhook(DeviceID(trusted: "d\(number)"), at: "host-\(number).example")
                _ = try await scene.devices.putDevice(device, in: scene.network, by: .admin)
            }
        }
        #expect(written.count { $0 } == 4)
    }

    @Test func `an import keeps to the number of servers`() async throws {
        try await scene.setLimits {
            $0.webhookHosts = 2
            $0.devicesPerUser = 1
        }
        let good = (0..<10).map { Device.webhook(DeviceID(trusted: "d\($0)"), at: "host-\($0 % 2).example") }
        try await scene.importing([good.map(ImportRecord.device)])
        #expect(try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 99).count == 10)
        await #expect(throws: LimitReached(.webhookHosts, 2)) {
            try await scene.importing([[.device(.webhook("d10", at: "host-2.example"))]])
        }
        #expect(try await scene.devices.device("d10", in: scene.network) == nil)
    }
}

extension Device {
    fileprivate static func phone(_ id: DeviceID, of user: UserID, token: String) -> Device {
        Device(id, of: user, .fcm(token: token, appID: "app"), at: .seconds(0))
    }

    fileprivate static func webhook(_ id: DeviceID, at host: String) -> Device {
        Device(id, of: "a", .webhook(url: "https://\(host)/hook"), at: .seconds(0))
    }
}

extension StoreScene {
    /// Whether something is done rather than refused for a limit.
    fileprivate func isWithinLimit(_ body: () async throws -> Void) async throws -> Bool {
        do {
            try await body()
            return true
        } catch is LimitReached {
            return false
        }
    }

    /// Lets a device's provider report it as gone.
    fileprivate func unregister(_ device: DeviceID, of user: UserID, token: String) async throws {
        try await enqueue(to: [[Target(Device(device, of: user, .fcm(token: token, appID: "app"), at: .seconds(0)))]])
        let effect = DeviceEffect.unregister(ifRegisteredBefore: .seconds(60), error: "410")
        _ = try await queue.settle([.all(try await claimOne(), .unregistered, effect: effect)])
        #expect(try await devices.device(device, in: network)?.state == .unregistered)
    }
}
