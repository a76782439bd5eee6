package import CarillonCore
package import Foundation
import Postgres

extension PostgresEventHistory {
    package func deadLetters(in network: NetworkID, after: UUID?, limit: Int) async throws -> [DeadLetter] {
        try await databases.of(network).pool.query(
            """
            SELECT letter_id, event_id, provider, app_id, cause, device_id, user_id, attempts, reason, at
            FROM dead_letters WHERE network_id = \(network.rawValue) AND letter_id > \(after ?? .smallest)
            ORDER BY letter_id LIMIT \(limit)
            """
        ) { row in
            let eventID = try row.eventID(1)
            return DeadLetter(
                id: try row.decode(0),
                eventID: eventID,
                eventType: try DeliveryCause(stored: row.storedCause(4), eventID: eventID).eventType,
                lane: Lane(networkID: network, provider: try row.choice(2), appID: try row.decode(3)),
                record: DeviceRecord(
                    deviceID: try row.id(5),
                    userID: try row.id(6),
                    state: .dead,
                    attempts: try row.decode(7),
                    reason: try row.decode(8),
                    at: try row.timestamp(9)
                )
            )
        }
    }

    /// Its notification counts as accepted now, so that it is worth delivering for as long as a new one.
    package func reviveDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Lane? {
        let database = try await databases.toWrite(network)
        let groupID = database.ids.next()
        return try await database.pool.write { session in
            let answers = try session.pipeline([
                "SELECT now()",
                """
                DELETE FROM dead_letters WHERE network_id = \(network.rawValue) AND letter_id = \(id)
                RETURNING event_id, provider, app_id, cause, locale, title, body, device_id, user_id, devices, content
                """,
            ])
            let now = try answers[0].map { row in try row.timestamp(0) }
            let revived = try answers[1].map { row in
                var cause = try DeliveryCause(stored: row.storedCause(3), eventID: row.eventID(0))
                cause.receivedAt = now[0]
                cause.isRevived = true
                let target = Target(deviceID: try row.id(7), userID: try row.id(8))
                let counts = try row.decode(9, as: Int?.self).map { $0 > 1 ? [target.userID: $0] : [:] }
                return DeliveryGroup(
                    id: groupID,
                    lane: Lane(networkID: network, provider: try row.choice(1), appID: try row.decode(2)),
                    cause: cause,
                    payload: .devices(DevicePush(try row.push(4, content: 10), deviceCounts: counts)),
                    targets: [target],
                    leased: false
                )
            }.first
            guard let revived else { return nil }
            try session.insert([revived])
            try session.execute(
                """
                INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead,
                                      suppressed, stopped_network, stopped_user, stopped_channel, revived, records)
                VALUES (\(network.rawValue), \(revived.cause.eventID.uuid),
                        \(revived.lane.provider.rawValue), now(), 0, 0, 0, -1, 0, 0, 0, 0,
                        \(revived.targets[0].deviceID.rawValue), '[]')
                """
            )
            return revived.lane
        }
    }

    package func deleteDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.execute(
            "DELETE FROM dead_letters WHERE network_id = \(network.rawValue) AND letter_id = \(id)"
        ) > 0
    }
}
