import CarillonCore
import Postgres

/// Who of some users and devices subscribes to which of some tags.
struct SubscriptionLookup {
    private struct Key: Hashable {
        var network: NetworkID
        var subscriber: Subscriber
        var tag: TagID
    }

    private var asked: Set<Key> = []
    private var found: Set<Key> = []

    mutating func ask(about people: [Recipient], _ tags: Set<TagID>, in network: NetworkID) {
        for tag in tags {
            for person in people {
                if !person.userID.isNobody {
                    asked.insert(Key(network: network, subscriber: .user(person.userID), tag: tag))
                }
                for device in person.devices {
                    asked.insert(Key(network: network, subscriber: .device(device.id), tag: tag))
                }
            }
        }
    }

    mutating func read(_ pool: PostgresPool) async throws {
        let keys = Array(asked)
        guard !keys.isEmpty else { return }
        let found = try await pool.query(
            """
            SELECT n.position
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.tag.rawValue)),
                        \(keys.map(\.subscriber.kind.rawValue)), \(keys.map(\.subscriber.id)))
                WITH ORDINALITY AS n (network_id, tag, kind, subject_id, position)
            CROSS JOIN LATERAL (
                SELECT s.tag FROM subscriptions s
                WHERE s.network_id = n.network_id AND s.tag = n.tag AND s.kind = n.kind
                    AND s.subject_id = n.subject_id AND \(sql: .isInForce)
                LIMIT 1
            ) AS s
            """
        ) { row in try row.decode(0, as: Int.self) - 1 }
        self.found = Set(found.map { keys[$0] })
    }

    func subscribes(_ subscriber: Subscriber, to tag: TagID, in network: NetworkID) -> Bool {
        found.contains(Key(network: network, subscriber: subscriber, tag: tag))
    }
}
