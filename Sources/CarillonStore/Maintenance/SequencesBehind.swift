package import Postgres

/// Sequences that would give out again what rows have already, as where a copy of the database was made without them: logical replication
/// copies none.
package struct SequencesBehind: Sendable, Equatable, CustomStringConvertible {
    package let names: [String]

    /// Looks at some of the rows that each sequence has numbered; `nil` where none is behind.
    ///
    /// - Throws: `PostgresError` when the database is away, or has no such tables.
    package static func look(_ pool: PostgresPool) async throws -> SequencesBehind? {
        let names = try await pool.query(
            """
            SELECT s.seqrelid::regclass::text
            FROM pg_sequence s
            CROSS JOIN LATERAL (
                SELECT coalesce(pg_sequence_last_value(s.seqrelid), s.seqstart - s.seqincrement) AS last_value) AS v
            WHERE s.seqrelid IN ('marks'::regclass, 'outcome_numbers'::regclass, 'endpoint_revisions'::regclass)
                AND CASE s.seqrelid
                  WHEN 'marks'::regclass THEN EXISTS (
                      SELECT FROM (SELECT since_event FROM members LIMIT 10000) AS m
                      WHERE m.since_event
                          >= ('ffffffffffffffff' || lpad(to_hex(v.last_value + s.seqincrement), 16, '0'))::uuid)
                  WHEN 'outcome_numbers'::regclass THEN EXISTS (
                      SELECT FROM (SELECT number FROM outcomes LIMIT 10000) AS o WHERE o.number > v.last_value)
                  ELSE EXISTS (
                      SELECT FROM (SELECT revision FROM endpoints LIMIT 10000) AS e WHERE e.revision > v.last_value)
                  END
            ORDER BY 1
            """
        ) { row in try row.decode(0, as: String.self) }
        return names.isEmpty ? nil : SequencesBehind(names: names)
    }

    package var description: String {
        """
        \(names.joined(separator: ", ")): behind what the rows say, as after a copy by logical replication, so that people would not be \
        told: set each to at least its value in the former database (SELECT last_value there, setval here)
        """
    }
}
