import CarillonCore
import Postgres

import struct Foundation.UUID

/// Forgets the oldest dead letters of networks that have too many: each holds a text, and one broadcast may leave as many as it has devices.
struct DeadLetterSweep {
    /// How many of a network are kept.
    static let mostKept = 100_000
    private static let batchSize = 5_000
    /// For how long one sweep deletes; the next goes on.
    private static let share = Duration.seconds(30)

    let pool: PostgresPool
    var mostKept = Self.mostKept

    /// Looks at all networks that have any. What is forgotten stays counted, and among the deliveries of its event.
    func sweep() async throws {
        let surplus = try await pool.query(
            """
            WITH RECURSIVE walk AS (\(sql: .walk(overNetworksIn: "dead_letters")))
            SELECT w.network_id, last.letter_id FROM walk w CROSS JOIN LATERAL (
                SELECT d.letter_id FROM dead_letters d WHERE d.network_id = w.network_id
                ORDER BY d.network_id DESC, d.letter_id DESC OFFSET \(mostKept) LIMIT 1
            ) AS last
            """
        ) { row in (network: try row.decode(0, as: String.self), last: try row.decode(1, as: UUID.self)) }
        let end = ContinuousClock.now + Self.share
        for (network, last) in surplus {
            try await pool.repeatingWithTaskLock(on: "dead_letters", batchSize: Self.batchSize, until: end) { session in
                try session.execute(
                    """
                    DELETE FROM dead_letters WHERE network_id = \(network) AND letter_id IN (
                        SELECT d.letter_id FROM dead_letters d
                        WHERE d.network_id = \(network) AND d.letter_id <= \(last)
                        ORDER BY d.letter_id LIMIT \(Self.batchSize) FOR UPDATE SKIP LOCKED)
                    """
                )
            }
        }
    }
}
