package import CarillonCore
import struct Foundation.UUID
package import Postgres

/// What was answered lately, in `journal`.
package struct PostgresJournalStore: JournalStore {
    let pool: PostgresPool

    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// Writes entries, those that were written before as they are, and forgets older ones of the same journals. What another
    /// replica is just forgetting is left to it.
    @discardableResult
    package func writeJournal(_ entries: [JournalKey: [JournalEntry]]) async throws -> [JournalKey] {
        let keys = entries.keys.sorted()
        let rows = keys.flatMap { key in entries[key, default: []].map { (key: key, entry: $0) } }
        guard !rows.isEmpty else { return [] }
        try await pool.write(
            """
            WITH forgotten AS (
                DELETE FROM journal WHERE ctid = ANY (ARRAY(
                    SELECT former.ctid
                    FROM unnest(\(keys.map(\.networkID.rawValue)), \(keys.map(\.name))) AS p (network_id, place)
                    CROSS JOIN LATERAL (
                        SELECT j.entry_id FROM journal j WHERE j.network_id = p.network_id AND j.place = p.place
                        ORDER BY j.network_id DESC, j.place DESC, j.entry_id DESC
                        OFFSET \(Journal.depth) LIMIT 1
                    ) AS last
                    CROSS JOIN LATERAL (
                        SELECT j.ctid FROM journal j
                        WHERE j.network_id = p.network_id AND j.place = p.place AND j.entry_id <= last.entry_id
                        FOR UPDATE SKIP LOCKED
                    ) AS former))
            )
            INSERT INTO journal (network_id, place, entry_id, note)
            SELECT n.network_id, n.place, n.entry_id, n.note
            FROM unnest(\(rows.map(\.key.networkID.rawValue)), \(rows.map(\.key.name)), \(rows.map(\.entry.id)),
                        \(rows.map(\.entry.note.stored))) AS n (network_id, place, entry_id, note)
            ON CONFLICT DO NOTHING
            """
        )
        return keys
    }

    /// The last entries of a journal, at most so many, the newest first; what cannot be read is left out.
    package func journal(of key: JournalKey, limit: Int) async throws -> [JournalEntry] {
        try await pool.snapshot { session in
            try session.query(
                """
                SELECT entry_id, note FROM journal
                WHERE network_id = \(key.networkID.rawValue) AND place = \(key.name)
                ORDER BY network_id DESC, place DESC, entry_id DESC
                LIMIT \(limit)
                """
            ) { row in
                let id = try row.decode(0, as: UUID.self)
                return JournalNote(stored: try row.decode(1)).map { JournalEntry(id: id, note: $0) }
            }.compactMap(\.self)
        }
    }
}
