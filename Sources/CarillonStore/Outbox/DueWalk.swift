import CarillonCore
import Postgres

/// A walk through what is due in some entries, for a claim: a share of each, one lane's rows after another's.
struct DueWalk: Sendable {
    /// What was met in an entry.
    struct Tally: Sendable {
        var considered: Int
        /// When the first row was due that was considered.
        var first: Timestamp
        var taken = 0
    }

    /// How many due rows of an entry are considered for each one that it may have, so that lanes have turns.
    private static let lookahead = 4

    var entries: [DueIndex.Entry]
    var share: Int
    var sharePerLane: Int
    /// The lanes that are left alone where a network is walked through.
    var passed: [Lane]

    private var depth: Int { share * Self.lookahead }

    private var unnestedEntries: SQL {
        """
        unnest(\(entries.map(\.network.rawValue)), \(entries.map(\.since.stored)), \(entries.map(\.lane?.provider.rawValue)),
               \(entries.map(\.lane?.appID))) WITH ORDINALITY AS n (network_id, since, provider, app_id, place)
        """
    }

    /// Whether a row is of an entry, and due.
    private var isOfEntry: SQL {
        """
        \(sql: DueRows.areDue("d"))
        AND CASE WHEN n.app_id IS NOT NULL THEN d.provider = n.provider AND d.app_id = n.app_id
            ELSE (d.network_id, d.provider, d.app_id) NOT IN (
                SELECT * FROM unnest(\(passed.map(\.networkID.rawValue)), \(passed.map(\.provider.rawValue)),
                                     \(passed.map(\.appID)))) END
        """
    }

    /// Puts off what is due first in paused lanes to the end of their pauses (``DeliveryGroup/wait(for:afterFailures:)``); answers the
    /// numbers of its entries, and since when it was due.
    var puttingOff: SQL {
        """
        WITH picked AS MATERIALIZED (
            SELECT n.place, first_ones.*, l.pause_reason,
                   l.paused_until + CASE WHEN first_ones.provider = 'relay' AND first_ones.attempt = 0
                       THEN \(DeliveryGroup.patienceOfUntried.wholeMilliseconds) ELSE 0 END * interval '1 millisecond'
                       AS paused_until
            FROM \(sql: unnestedEntries) CROSS JOIN LATERAL (
                SELECT d.network_id, d.group_id, d.provider, d.app_id, d.attempt, d.run_at FROM deliveries d
                WHERE \(sql: isOfEntry)
                ORDER BY d.run_at LIMIT \(depth)
                FOR UPDATE OF d SKIP LOCKED
            ) AS first_ones
            JOIN lanes l ON l.network_id = first_ones.network_id AND l.provider = first_ones.provider
                AND l.app_id = first_ones.app_id AND l.paused_until > now()
        )
        UPDATE deliveries d
        SET run_at = p.paused_until, lane_reason = p.pause_reason
        FROM picked p
        WHERE \(sql: .hasKey("d", "group_id", of: "p"))
        RETURNING p.place, p.run_at
        """
    }

    /// The rows that are due first and whose lanes are not paused, with the number of their entry and what was considered there.
    var picking: SQL {
        """
        WITH picked AS MATERIALIZED (
            SELECT n.place, share.*
            FROM \(sql: unnestedEntries) CROSS JOIN LATERAL (
                SELECT ranked.network_id, ranked.group_id, ranked.considered, ranked.first_at
                FROM (
                    SELECT first_ones.*,
                           row_number() OVER (PARTITION BY provider, app_id ORDER BY run_at) AS turn,
                           count(*) OVER () AS considered, min(run_at) OVER () AS first_at
                    FROM (
                        SELECT d.network_id, d.group_id, d.provider, d.app_id, d.run_at FROM deliveries d
                        WHERE \(sql: isOfEntry)
                            AND NOT EXISTS (SELECT FROM lanes l
                                            WHERE l.network_id = d.network_id AND l.provider = d.provider
                                                AND l.app_id = d.app_id AND l.paused_until > now())
                        ORDER BY d.run_at LIMIT \(depth)
                        FOR UPDATE OF d SKIP LOCKED
                    ) AS first_ones
                ) AS ranked
                WHERE ranked.turn <= \(sharePerLane)
                ORDER BY ranked.turn, ranked.run_at LIMIT \(share)
            ) AS share
        )
        """
    }

    /// Since when something may still be due in each entry, by what was met there and since when what was put off had been due; and
    /// whether anything was done.
    func left(_ tallies: [Int: Tally], _ putOff: [Int: Timestamp]) -> (since: [Timestamp?], hasProgress: Bool) {
        let since = entries.indices.map { index -> Timestamp? in
            guard let tally = tallies[index + 1] else { return putOff[index + 1] }
            let isThrough = tally.considered < depth && tally.considered == tally.taken && putOff[index + 1] == nil
            return isThrough ? nil : .earlier(tally.first, putOff[index + 1])
        }
        return (since, !tallies.isEmpty || !putOff.isEmpty)
    }
}
