@testable import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What comes with notifications is bounded.
@Suite(.stores) struct OwnerlessRoomTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    private static func address(_ number: Int) -> DeviceAddress { .fcm(token: "t\(number)", appID: "app") }

    @Test func `the longest unseen of what came with notifications makes room, and nobody else's`() async throws {
        var network = Network(id: scene.network, createdAt: .now)
        network.limits.ownerlessDevices = 4
        for networkID in [scene.network, scene.otherNetwork] {
            try await Self.name(0..<3, in: networkID, scene)
        }
        let own = Device("own", of: .nobody, Self.address(9))
        _ = try await scene.devices.putDevice(own, in: scene.network, by: .admin)
        try await pool.withConnection { session in
            for (number, days) in [(0, 2), (1, 3)] {
                try session.execute(
                    """
                    UPDATE devices SET seen_at = now() - \(days) * interval '1 day'
                    WHERE device_id = \(DeviceID(reachedAt: Self.address(number)).rawValue)
                    """
                )
            }
        }
        func known() async throws -> [Int] {
            let keys = (0..<3).map { AddressKey(networkID: scene.network, address: Self.address($0)) }
            return try await scene.devices.devices(reachedAt: keys).enumerated().filter { $1 != nil }.map(\.offset)
        }
        try await scene.devices.makeRoom(for: [Self.address(5)], in: network, ofStrangers: true)
        #expect(try await known() == [0, 2], "the one that was not seen for three days")
        try await scene.devices.makeRoom(for: [Self.address(5)], in: network, ofStrangers: true)
        #expect(try await known() == [0, 2], "there is room")
        await #expect(throws: LimitReached(.ownerlessDevices, 4)) {
            try await scene.devices.makeRoom(for: (5...7).map(Self.address), in: network, ofStrangers: true)
        }
        #expect(try await known() == [0, 2], "too few could go, so none went")
        let others = (0..<3).map { AddressKey(networkID: scene.otherNetwork, address: Self.address($0)) }
        #expect(try await scene.devices.devices(reachedAt: others).allSatisfy { $0 != nil })
    }
    /// Names addresses in a notification, so that they become devices which were never reached.
    private static func name(_ numbers: Range<Int>, in network: NetworkID, _ scene: StoreScene) async throws {
        let named = numbers.map { AddressedDevice(address: address($0)) }
        _ = try await scene.recipients.page(for: RecipientQuery(.direct(.addresses(named)), in: network))
    }

    @Test
    func `what strangers made up keeps out nobody whom the network knows, and is no neighbour's loss`() async throws {
        var network = Network(id: scene.network, createdAt: .now)
        network.limits.ownerlessDevices = 4
        for id in [scene.network, scene.otherNetwork] { try await Self.name(0..<4, in: id, scene) }
        func age(_ number: Int, seconds: Int, error: String? = Device.firstError) async throws {
            try await pool.execute(
                """
                UPDATE devices SET seen_at = now() - \(seconds) * interval '1 second', error = \(error)
                WHERE device_id = \(DeviceID(reachedAt: Self.address(number)).rawValue)
                """
            )
        }
        func known(in id: NetworkID) async throws -> [Int] {
            let keys = (0..<4).map { AddressKey(networkID: id, address: Self.address($0)) }
            return try await scene.devices.devices(reachedAt: keys).enumerated().filter { $1 != nil }.map(\.offset)
        }
        func makeRoom(ofStrangers: Bool) async throws {
            try await scene.devices.makeRoom(for: [Self.address(5)], in: network, ofStrangers: ofStrangers)
        }
        // A homeserver's own, which work, and what strangers made up since.
        for number in [0, 1] { try await age(number, seconds: 3_600, error: nil) }
        try await age(2, seconds: 300)
        await #expect(throws: LimitReached(.ownerlessDevices, 4), "what is new may be on its way") {
            try await makeRoom(ofStrangers: true)
        }
        try await makeRoom(ofStrangers: false)
        #expect(try await known(in: scene.network) == [0, 1, 3])
        try await Self.name(2..<3, in: scene.network, scene)
        try await age(3, seconds: 700)
        try await makeRoom(ofStrangers: true)
        #expect(try await known(in: scene.network) == [0, 1, 2], "strangers' give way to strangers' later")
        #expect(try await known(in: scene.otherNetwork) == [0, 1, 2, 3])
        try await Self.name(3..<4, in: scene.network, scene)
        await #expect(throws: LimitReached(.ownerlessDevices, 4), "what works stays") {
            try await makeRoom(ofStrangers: false)
        }
    }

    @Test
    func `what strangers made up is gone after two days, and what is registered stays, here and at a neighbour's`()
        async throws
    {
        for network in [scene.network, scene.otherNetwork] {
            try await scene.devices.addQuarantined([Self.address(0)], because: "unusable pushkey", in: network)
            let own = Device("own", of: .nobody, Self.address(9))
            _ = try await scene.devices.putDevice(own, in: network, by: .admin)
        }
        try await pool.execute(
            """
            UPDATE devices SET state_at = now() - interval '49 hours'
            WHERE state = 'quarantined' AND network_id = \(scene.network.rawValue)
            """
        )
        try await pool.execute("UPDATE devices SET registered_at = now() - interval '49 hours'")
        try await pool.housekeeper().sweep()
        let left = try await pool.all("SELECT network_id || ' ' || state FROM devices ORDER BY 1", as: String.self)
        #expect(left == ["acme active", "other active", "other quarantined"])
    }
}

@Suite struct OwnerlessShareTests {
    private func share(_ limit: Int, _ first: UInt8, _ second: UInt8) -> OwnerlessShare {
        OwnerlessShare(of: limit, around: [first, second] + [UInt8](repeating: 7, count: 30))
    }

    @Test(arguments: [0, 1, 8_192])
    func `of few all are counted`(limit: Int) {
        for byte in [0, 0x7F, 0xFF] as [UInt8] {
            let share = share(limit, byte, byte)
            #expect(share.first == [0, 0] && share.end == [UInt8](repeating: 0xFF, count: 33) && share.limit == limit)
        }
    }

    @Test func `of many a share is counted, which holds the hash that is asked about`() {
        // 128 shares, each of two values of the first byte.
        let share = share(1_000_000, 0x12, 0xFF)
        #expect(share.first == [0x12, 0] && share.end == [0x14, 0] && share.limit == 7_813)
        let last = self.share(1_000_000, 0xFF, 0xFF)
        #expect(last.first == [0xFE, 0] && last.end.count == 33)
    }

    @Test(arguments: [8_193, 100_000, 1_000_000, 100_000_000])
    func `no count looks at more than a bounded number`(limit: Int) {
        #expect(share(limit, 1, 2).limit <= OwnerlessShare.largest)
        #expect(share(limit, 1, 2).limit > OwnerlessShare.largest / 2)
    }
}
