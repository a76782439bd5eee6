import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What endpoints are told of devices and subscriptions that end by being tidied up.
@Suite struct FeedbackTests {
    @Test func `what is tidied up is told of, but for what came with a notification`() async throws {
        try await withStores { scene, pool in
            let ids = UUIDv7Generator()
            let book = EndpointBook(store: scene.endpoints, logger: TestDatabase.logger)
            let housekeeper = Housekeeper(
                pool: pool,
                feedback: FeedbackDesk(endpoints: book, ids: ids),
                logger: TestDatabase.logger
            )
            _ = try await scene.endpoints.addEndpoint(
                .sample("e-1", .observing, ["device.*", "subscription.*"]),
                secret: .generate(),
                of: scene.network,
                answering: nil
            )
            for (id, user) in [("old", "a"), ("gone", "a"), ("theirs", "b")] as [(DeviceID, UserID)] {
                let device = Device(id: id, userID: user, address: .log, registeredAt: Timestamp(milliseconds: 0))
                _ = try await scene.devices.putDevice(device, in: scene.network, by: .admin)
                _ = try await scene.tags.subscribe(
                    .device(id),
                    to: "t",
                    in: scene.network,
                    ifOwnedBy: nil,
                    by: .admin
                )
            }
            _ = try await scene.tags.subscribe(.user("b"), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
            let transient = DeviceID(reachedAt: .log)
            try await pool.withConnection { session in
                try session.execute(
                    "UPDATE devices SET state = 'unregistered', state_at = 'epoch' WHERE device_id = 'old'"
                )
                try session.execute(
                    """
                    INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, state, registered_at,
                                         transient, seen_at)
                    VALUES ('acme', \(transient.rawValue), '', 'log', '', '', 'active', 'epoch', true, 'epoch')
                    """
                )
            }
            _ = try await scene.devices.deleteDevice("gone", ifOwnedBy: nil, in: scene.network)
            _ = try await scene.directory.deleteUser("b", in: scene.network)
            _ = try await scene.claim()
            for _ in 0..<2 { try await housekeeper.sweep() }
            #expect(try await pool.count("devices") == 0)
            let keys = try await scene.claim().compactMap(\.group.relayKey)
            let bodies = try await scene.messages.relayMessages(keys)
            let told = keys.compactMap { bodies[$0]?.body }.map { String(decoding: $0, as: UTF8.self) }.joined()
            for words in [
                #""deviceId":"old","userId":"a","provider":"log","reason":"aged""#,
                #""deviceId":"theirs","userId":"b","provider":"log","reason":"user deleted""#,
                #""tag":"t","userId":"b","reason":"user deleted""#,
                #""tag":"t","deviceId":"gone","reason":"device gone""#,
                #""tag":"t","deviceId":"old","reason":"device gone""#,
            ] {
                #expect(told.contains(words), "\(told)")
            }
            #expect(!told.contains(transient.rawValue))
        }
    }
}
