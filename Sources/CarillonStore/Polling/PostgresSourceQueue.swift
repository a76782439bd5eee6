package import CarillonCore
import Postgres

/// The sources of a placement, for whoever asks them.
package struct PostgresSourceQueue: SourceQueue {
    /// How many rows are looked at for those that are taken: a network has no more of them than it may have sources.
    private static let depth = 1_000

    private let inbox: PostgresEventInbox
    private let box: SecretBox

    private var pool: PostgresPool { inbox.pool }

    /// The sources beside `inbox`, into which their events go.
    package init(_ inbox: PostgresEventInbox, box: SecretBox) {
        self.inbox = inbox
        self.box = box
    }

    private static func timeBehind(_ wait: Duration) -> SQL {
        "now() + \(wait.wholeMilliseconds) * interval '1 millisecond'"
    }

    package func claimSources(limit: Int, share: Int, busy: [NetworkID: Int]) async throws -> [ClaimedSource] {
        let networks = busy.keys.sorted()
        let full = networks.filter { busy[$0, default: 0] >= share }
        let rows = try await pool.write { session in
            try session.query(
                """
                WITH due AS (
                    SELECT s.network_id, s.source_id, s.run_at FROM sources s
                    WHERE s.enabled AND s.run_at <= now() AND s.network_id <> ALL (\(full.map(\.rawValue)))
                    ORDER BY s.run_at LIMIT \(Self.depth)
                ), placed AS (
                    SELECT d.network_id, d.source_id, d.run_at,
                           row_number() OVER (PARTITION BY d.network_id ORDER BY d.run_at, d.source_id)
                               + coalesce(b.count, 0) AS place
                    FROM due d
                    LEFT JOIN unnest(\(networks.map(\.rawValue)), \(networks.map { Int64(busy[$0, default: 0]) }))
                        AS b (network_id, count) ON b.network_id = d.network_id
                ), taken AS MATERIALIZED (
                    SELECT s.network_id, s.source_id FROM sources s
                    WHERE s.enabled AND s.run_at <= now()
                        AND (s.network_id, s.source_id) IN (
                            SELECT p.network_id, p.source_id FROM placed p WHERE p.place <= \(share)
                            ORDER BY p.place, p.run_at LIMIT \(limit))
                    ORDER BY s.network_id, s.source_id
                    FOR UPDATE SKIP LOCKED
                )
                UPDATE sources s
                SET leased = true, lease_token = s.lease_token + 1,
                    run_at = \(sql: Self.timeBehind(ClaimedSource.leaseDuration))
                FROM taken t WHERE s.network_id = t.network_id AND s.source_id = t.source_id
                RETURNING s.network_id, s.source_id, s.url, s.interval_seconds, s.sealed, s.cursor, s.failures, s.lease_token
                """
            ) { row in
                (
                    source: ClaimedSource(
                        networkID: try row.id(0),
                        id: try row.id(1),
                        settings: SourceSettings(
                            url: try row.decode(2),
                            interval: Int(try row.decode(3, as: Int32.self))
                        ),
                        secret: nil,
                        cursor: try row.decode(5),
                        failures: Int(try row.decode(6, as: Int32.self)),
                        leaseToken: try row.decode(7)
                    ),
                    sealed: try row.decode(4, as: [UInt8].self)
                )
            }
        }
        return rows.map { row in
            var source = row.source
            source.secret = secret(row.sealed, of: source)
            return source
        }
    }

    package func nextDue() async throws -> Duration? {
        let milliseconds = try await pool.queryFirst(
            """
            SELECT (extract(epoch FROM min(s.run_at) - clock_timestamp()) * 1000)::bigint FROM sources s WHERE s.enabled
            """
        ) { row in try row.decode(0, as: Int64?.self) }
        return (milliseconds ?? nil).map { .milliseconds(max(0, $0)) }
    }

    /// The secret of a source; `nil` when the master key is another one.
    private func secret(_ sealed: [UInt8], of source: ClaimedSource) -> WebhookSecret? {
        guard let bytes = try? box.open(sealed, for: .sourceSecret(of: source.id), in: source.networkID) else {
            return nil
        }
        return WebhookSecret(String(decoding: bytes, as: UTF8.self))
    }

    package func accept(_ page: SourcePage, from source: ClaimedSource) async throws -> [Acceptance]? {
        try await inbox.accept(page.events, lockWait: .milliseconds(300)) { session in
            try session.execute(
                """
                UPDATE sources
                SET cursor = coalesce(\(page.cursor), cursor), skipped = skipped + \(Int64(page.skippedItems)),
                    last_poll_at = now(), last_error = \(page.error), failures = 0, failing_since = NULL,
                    run_at = \(sql: Self.timeBehind(ClaimedSource.leaseDuration))
                WHERE network_id = \(source.networkID.rawValue) AND source_id = \(source.id.rawValue)
                    AND leased AND lease_token = \(source.leaseToken)
                """
            ) > 0
        }
    }

    package func release(_ source: ClaimedSource, after wait: Duration, _ outcome: PollOutcome) async throws {
        // Of what there is not yet the least is the other: when the first failure was is kept.
        let change: SQL =
            switch outcome {
            case .succeeded: ", failures = 0, failing_since = NULL"
            case .failed(let reason):
                """
                , failures = failures + 1, failing_since = least(failing_since, now()), last_poll_at = now(),
                last_error = \(reason)
                """
            case .deferred(let reason): ", last_error = \(reason)"
            case .undecided: ""
            }
        try await pool.write(
            """
            UPDATE sources
            SET leased = false, run_at = \(sql: Self.timeBehind(wait))\(sql: change)
            WHERE network_id = \(source.networkID.rawValue) AND source_id = \(source.id.rawValue)
                AND leased AND lease_token = \(source.leaseToken)
            """
        )
    }
}
