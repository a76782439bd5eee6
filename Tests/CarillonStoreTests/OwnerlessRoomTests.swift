import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What comes with notifications is bounded.
@Suite struct OwnerlessRoomTests {
    private static func address(_ number: Int) -> DeviceAddress { .fcm(token: "t\(number)", appID: "app") }

    @Test func `the longest unseen of what came with notifications makes room, and nobody else's`() async throws {
        try await withStores { scene, pool in
            var network = Network(id: scene.network, createdAt: .now)
            network.limits.ownerlessDevices = 4
            for networkID in [scene.network, scene.otherNetwork] {
                let event = Event(
                    sourceID: "n-\(networkID)",
                    type: .notificationDirect,
                    timestamp: .now,
                    direct: DirectNotification(
                        to: .addresses((0..<3).map { AddressedDevice(address: Self.address($0)) })
                    )
                )
                let query = RecipientQuery(networkID: networkID, eventID: EventID(scene.ids.next()), event: event)
                _ = try await scene.recipients.recipients(for: [query])
            }
            let own = Device(id: "own", userID: .nobody, address: Self.address(9), registeredAt: .now)
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
                let places = (0..<3).map { AddressPlace(networkID: scene.network, address: Self.address($0)) }
                return try await scene.devices.devices(reachedAt: places).enumerated().filter { $1 != nil }.map(
                    \.offset
                )
            }
            try await scene.devices.makeRoom(for: [Self.address(5)], in: network)
            #expect(try await known() == [0, 2], "the one that was not seen for three days")
            try await scene.devices.makeRoom(for: [Self.address(5)], in: network)
            #expect(try await known() == [0, 2], "there is room")
            await #expect(throws: LimitReached(.ownerlessDevices, 4)) {
                try await scene.devices.makeRoom(for: (5...7).map(Self.address), in: network)
            }
            #expect(try await known() == [0, 2], "too few could go, so none went")
            let others = (0..<3).map { AddressPlace(networkID: scene.otherNetwork, address: Self.address($0)) }
            #expect(try await scene.devices.devices(reachedAt: others).allSatisfy { $0 != nil })
        }
    }
}
