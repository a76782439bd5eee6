import CarillonCore
import CarillonTesting
import Testing

extension DeviceStoreTests {
    @Test func `attributes and secret are those of the last registration`() async throws {
        var device = token("d", of: .nobody)
        device.attributes = ["platform": "ios", "metadata": ["é": [1, .null, "\u{1F600}"]]]
        device.secretHash = SecretHash(bytes: [1, 2, 3])
        _ = try await scene.devices.putDevice(device, in: scene.network)
        #expect(try await scene.devices.device("d", in: scene.network) == device)
        _ = try await scene.devices.putDevice(token("d", of: .nobody), in: scene.network)
        #expect(try await scene.devices.device("d", in: scene.network)?.attributes == nil)
        #expect(try await scene.devices.device("d", in: scene.network)?.secretHash == nil)
    }

    @Test func `what replaces what was read replaces nothing else`() async throws {
        func put(_ device: Device, replacing known: Device?) async throws -> Bool {
            try await scene.devices.putDevice(device, replacing: .only(known), in: scene.network, by: .user)
        }
        var device = token("d", of: .nobody)
        device.attributes = ["platform": "ios", "metadata": ["a": 1]]
        device.secretHash = SecretHash(bytes: [1])
        await #expect(throws: DeviceChanged()) { try await put(device, replacing: device) }
        #expect(try await scene.devices.device("d", in: scene.network) == nil)
        #expect(try await put(device, replacing: nil))
        let read = try #require(try await scene.devices.device("d", in: scene.network))
        var stolen = device
        stolen.secretHash = SecretHash(bytes: [2])
        await #expect(throws: DeviceChanged()) { try await put(stolen, replacing: nil) }
        #expect(try await put(stolen, replacing: read) == false)
        await #expect(throws: DeviceChanged()) { try await put(device, replacing: read) }
        #expect(try await scene.devices.device("d", in: scene.network)?.secretHash == SecretHash(bytes: [2]))
        await #expect(throws: DeviceChanged()) { try await put(device, replacing: token("d", of: .nobody)) }
    }

    @Test func `of changes of one device that are made at once none is lost`() async throws {
        _ = try await scene.devices.putDevice(token("d", of: .nobody), in: scene.network)
        _ = try await inParallel(4) { number in
            while true {
                let known = try await scene.devices.device("d", in: scene.network)
                guard var device = known else { throw UnexpectedAnswer() }
                var attributes = device.attributes ?? JSONObject()
                attributes["key-\(number)"] = JSONValue.bool(true)
                device.attributes = attributes
                do {
                    return try await scene.devices.putDevice(
                        device,
                        replacing: .only(known),
                        in: scene.network,
                        by: .user
                    )
                } catch is DeviceChanged {}
            }
        }
        let attributes = try await scene.devices.device("d", in: scene.network)?.attributes
        #expect(attributes?.members.count == 4)
    }

    @Test func `what was out of use when it was registered can be restored`() async throws {
        let start = WallClock.system.now() - .seconds(60)
        var device = token("d", of: .nobody)
        device.state = .quarantined
        device.error = "no token"
        _ = try await scene.devices.putDevice(device, in: scene.network)
        #expect(try await scene.devices.device("d", in: scene.network) == device)
        let restored = try await scene.devices.restoreDevices(
            .fcm,
            appID: nil,
            since: start,
            until: start + .seconds(120),
            in: scene.network
        )
        #expect(restored == 1)
    }

    @Test func `registered devices are listed in pages by id, whoever owns them`() async throws {
        let address = DeviceAddress.fcm(token: "t-9", appID: "app")
        var registered = [("d1", "a"), ("d2", ""), ("é", "b"), ("t-", ""), ("t-9", "a"), ("t.", "a"), ("z", "b")]
            .map { token(DeviceID(trusted: $0), of: UserID(trusted: $1)) }
        registered.append(Device(DeviceID(reachedAt: address), of: "c", address, at: .epoch))
        for device in registered.shuffled() { _ = try await scene.devices.putDevice(device, in: scene.network) }
        _ = try await scene.devices.putDevice(.log("log", of: "a"), in: scene.network)
        _ = try await scene.devices.putDevice(token("other", of: "a"), in: scene.otherNetwork)
        for limit in 1...4 {
            #expect(try await scene.registered(limit: limit) == registered.map(\.id).sorted())
            #expect(try await scene.registered(of: "a", limit: limit) == ["d1", "t-9", "t."])
            #expect(try await scene.registered(of: .nobody, limit: limit) == ["d2", "t-"])
        }
        #expect(try await scene.registered(through: [.apns], limit: 9).isEmpty)
        #expect(try await scene.registered(through: [.apns, .log], limit: 9) == ["log"])
    }

    @Test func `a device that came with a notification is no registered one`() async throws {
        let address = DeviceAddress.fcm(token: "new", appID: "app")
        let event = Event.direct(.addresses([AddressedDevice(address: address)]))
        _ = try await scene.recipients.page(
            for: RecipientQuery(networkID: scene.network, eventID: EventID(scene.ids.next()), event: event)
        )
        let id = DeviceID(reachedAt: address)
        #expect(try await scene.devices.device(id, in: scene.network) != nil)
        #expect(try await scene.registered(limit: 9).isEmpty)
        let device = Device(id, of: .nobody, address, at: .epoch)
        _ = try await scene.devices.putDevice(device, in: scene.network)
        #expect(try await scene.registered(limit: 9) == [id])
    }

    @Test func `devices of a user who was removed are not listed`() async throws {
        for user in ["a", "b"] as [UserID] {
            _ = try await scene.devices.putDevice(token(DeviceID(trusted: "of-\(user)"), of: user), in: scene.network)
        }
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        #expect(try await scene.registered(limit: 9) == ["of-b"])
        #expect(try await scene.registered(of: "a", limit: 9).isEmpty)
    }

    private func token(_ id: DeviceID, of user: UserID) -> Device {
        Device(id, of: user, .fcm(token: "of-\(id)", appID: "app"), at: .epoch)
    }
}

extension StoreScene {
    /// All pages of the registered devices.
    fileprivate func registered(
        through providers: Set<ProviderName> = [.apns, .fcm, .webpush],
        of user: UserID? = nil,
        limit: Int
    ) async throws -> [DeviceID] {
        var all: [DeviceID] = []
        while true {
            let page = try await devices.registeredDevices(
                through: providers,
                of: user,
                in: network,
                after: all.last,
                limit: limit
            )
            all += page.map(\.id)
            if page.count < limit { return all }
        }
    }
}
