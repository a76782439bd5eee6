@testable import CarillonCore
import CarillonTesting
import Testing

extension DeviceStoreTests {
    private func reached(_ scene: StoreScene, _ addresses: DeviceAddress...) async throws -> [ReachedDevice?] {
        let keys = addresses.map { AddressKey(networkID: scene.network, address: $0) }
        return try await scene.devices.devices(reachedAt: keys)
    }

    @Test func `devices are found by their addresses, in the order of these`() async throws {
        let address = DeviceAddress.apns(token: "ab", appID: "app", environment: .sandbox)
        let phone = Device("phone", of: "a", address, locale: "th", at: .seconds(5))
        for device in [phone, .log("line", of: "a"), .log("other", of: "b")] {
            _ = try await scene.devices.putDevice(device, in: scene.network)
        }
        let new = AddressedDevice(address: .fcm(token: "new", appID: "app"))
        _ = try await scene.page(of: .direct(.addresses([new])))
        let found = try await reached(
            scene,
            .fcm(token: "unknown", appID: "app"),
            .apns(token: "AB", appID: "elsewhere", environment: .production),
            .log,
            .fcm(token: "new", appID: "elsewhere")
        )
        #expect(found.map { $0?.id } == [nil, "phone", nil, DeviceID(reachedAt: new.address)])
        #expect(
            found[1]
                == ReachedDevice(
                    id: "phone",
                    provider: .apns,
                    appID: "app",
                    locale: "th",
                    state: .active,
                    outOfUseSince: nil,
                    registeredAt: .seconds(5),
                    obtainedAt: .seconds(5),
                    isTransient: false
                )
        )
        #expect(found[3]?.isTransient == true)
        let elsewhere = AddressKey(networkID: scene.otherNetwork, address: phone.address)
        let here = AddressKey(networkID: scene.network, address: phone.address)
        let both = try await scene.devices.devices(reachedAt: [elsewhere, here, here])
        #expect(both.map { $0?.id } == [nil, "phone", "phone"])
    }

    @Test func `what is out of use is used again when its address is newer`() async throws {
        let start = WallClock.system.now()
        let target = try await scene.target("d", of: "a")
        try await scene.enqueue(to: [[target]])
        let effect = DeviceEffect.unregister(ifRegisteredBefore: start, error: "410")
        _ = try await scene.queue.settle([.all(try await scene.claimOne(), .unregistered, effect: effect)])
        let devices = scene.devices
        func now() async throws -> ReachedDevice? { try await reached(scene, #require(target.address))[0] }
        let dead = try #require(try await now())
        let death = try #require(dead.outOfUseSince)
        #expect(dead.state == .unregistered)
        try await devices.renewDevices(["d": death - .seconds(1), "unknown": death], in: scene.network)
        #expect(try await now() == dead)
        try await devices.renewDevices(["d": death + .seconds(3600)], in: scene.otherNetwork)
        #expect(try await now() == dead)

        try await devices.renewDevices(["d": death + .seconds(3600)], in: scene.network)
        let alive = try #require(try await now())
        #expect(alive.state == .active)
        #expect(alive.outOfUseSince == nil)
        #expect(alive.registeredAt >= start - .seconds(60), "what is said of the time before is ignored")
        #expect(alive.registeredAt < start + .seconds(3600), "no address was obtained later than now")
        #expect(try await devices.device("d", in: scene.network)?.error == nil)

        try await devices.renewDevices(["d": start - .seconds(7200)], in: scene.network)
        #expect(try await now() == alive, "an older address says nothing")
    }

    @Test func `an address that nobody registered begins when its sender says, or at no time`() async throws {
        let address = DeviceAddress.fcm(token: "new", appID: "app")
        func obtainedAt() async throws -> Timestamp? { try await reached(scene, address)[0]?.obtainedAt }
        _ = try await scene.page(of: .direct(.addresses([AddressedDevice(address: address)])))
        #expect(try await obtainedAt() == .epoch)
        let id = DeviceID(reachedAt: address)
        for (said, holds) in [(Int64(10), Int64(10)), (30, 30), (20, 30)] {
            try await scene.devices.renewDevices([id: .seconds(said)], in: scene.network)
            #expect(
                try await obtainedAt() == .seconds(holds),
                "the latest counts, be it before the address was seen here"
            )
        }
        let dated = AddressedDevice(address: .fcm(token: "dated", appID: "app"), obtainedAt: .seconds(7))
        _ = try await scene.page(of: .direct(.addresses([dated])))
        #expect(try await reached(scene, dated.address)[0]?.obtainedAt == .seconds(7))
    }

    @Test func `too many of nobody's devices have no room, but where some are unseen`() async throws {
        var network = Network(id: scene.network, createdAt: .seconds(0))
        network.limits.ownerlessDevices = 2
        try await scene.setLimits { $0.ownerlessDevices = 2 }
        let addresses = (0..<3).map { DeviceAddress.fcm(token: "t\($0)", appID: "app") }
        try await scene.devices.makeRoom(for: Array(addresses[..<2]), in: network, ofStrangers: true)
        await #expect(throws: LimitReached(.ownerlessDevices, 2)) {
            try await scene.devices.makeRoom(for: addresses, in: network, ofStrangers: true)
        }
        _ = try await scene.page(of: .direct(.addresses(addresses[..<2].map { AddressedDevice(address: $0) })))
        await #expect(throws: LimitReached(.ownerlessDevices, 2)) {
            try await scene.devices.makeRoom(for: [addresses[2]], in: network, ofStrangers: true)
        }
        #expect(try await reached(scene, addresses[0], addresses[1]).allSatisfy { $0 != nil }, "they were seen today")
        network.id = scene.otherNetwork
        try await scene.devices.makeRoom(for: [addresses[2]], in: network, ofStrangers: true)
        // What an app registers goes before what merely came with a notification.
        let own = Device("own", of: .nobody, addresses[2], at: .seconds(0))
        _ = try await scene.devices.putDevice(own, in: scene.network, by: .user)
        #expect(try await reached(scene, addresses[0], addresses[1]).compactMap(\.self).count == 1)
    }

    @Test func `what nothing can be sent to is remembered as such`() async throws {
        let known = Device("phone", of: "a", .fcm(token: "known", appID: "app"), at: .seconds(0))
        _ = try await scene.devices.putDevice(known, in: scene.network)
        let bad = DeviceAddress.webpush(endpoint: "https://unusable.invalid/1", p256dh: "", auth: "")
        for _ in 0..<2 {
            try await scene.devices.addQuarantined([bad, known.address], because: "unusable", in: scene.network)
        }
        let found = try await reached(scene, bad, known.address)
        #expect(found.map { $0?.state } == [.quarantined, .active])
        #expect(found[0]?.outOfUseSince != nil)
        #expect(found[0]?.isTransient == true)
        let device = try await scene.devices.device(DeviceID(reachedAt: bad), in: scene.network)
        #expect(device?.error == "unusable")
        let page = try await scene.page(of: .direct(.devices([DeviceID(reachedAt: bad)])))
        #expect(page.recipients.flatMap(\.devices).isEmpty)
    }
}
