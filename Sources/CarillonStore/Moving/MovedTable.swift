import CarillonCore
import Postgres

/// A table with rows of networks, as the catalog of a placement describes it.
struct MovedTable: Sendable, Equatable {
    /// What is home's, or made anew where a network comes to, or forgotten on its way.
    private static let leftBehind: Set = [
        "changes", "change_counters", "lane_reports", "former_networks", "departed_networks", "arrivals",
        "placed_networks", "deleted_networks", "face_names", "network_moves",
    ]
    /// What stays home's, or is about networks that are not here, whatever moves.
    private static let unfenced: Set = [
        "former_networks", "departed_networks", "arrivals", "placed_networks", "deleted_networks", "face_names",
        "network_moves",
    ]

    var name: String
    var columns: [String]
    /// What tells a network's rows from each other, with its types.
    var key: [String]
    var types: [String]

    var isMoved: Bool { !Self.leftBehind.contains(name) }
    var isFenced: Bool { !Self.unfenced.contains(name) }
}

extension PostgresSession {
    /// The tables of the schema that have rows of networks, the one that others point to first.
    func movedTables() throws -> [MovedTable] {
        try query(
            """
            SELECT c.relname::text,
                ARRAY(SELECT a.attname::text FROM pg_attribute a
                      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
                      ORDER BY a.attnum),
                ARRAY(SELECT a.attname::text FROM pg_index i
                      CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place)
                      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
                      WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname <> 'network_id' ORDER BY k.place),
                ARRAY(SELECT format_type(a.atttypid, a.atttypmod) FROM pg_index i
                      CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place)
                      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
                      WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname <> 'network_id' ORDER BY k.place)
            FROM pg_class c
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                AND EXISTS (SELECT FROM pg_attribute a
                            WHERE a.attrelid = c.oid AND a.attname = 'network_id' AND NOT a.attisdropped)
            ORDER BY c.relname <> 'networks', c.relname
            """
        ) { row in
            MovedTable(
                name: try row.decode(0),
                columns: try row.decode(1),
                key: try row.decode(2),
                types: try row.decode(3)
            )
        }
    }
}

/// Some rows of a network, each as JSON.
struct MovedRows: Sendable {
    var rows: [String]
    /// The key of the last one.
    var last: [String]

    var bytes: Int { rows.reduce(0) { $0 + $1.utf8.count } }
    var json: String { "[" + rows.joined(separator: ",") + "]" }
}

extension MovedTable {
    /// Reads rows of a network, behind one, in the order of their keys.
    func page(
        of network: NetworkID,
        after last: [String]?,
        limit: Int,
        _ session: borrowing PostgresSession
    ) throws -> MovedRows {
        var condition: SQL = "t.network_id = \(network.rawValue)"
        if let last, !last.isEmpty {
            let values = zip(last, types).map { value, type -> SQL in "\(value)::text::\(sql: SQL(trusted: type))" }
            condition += " AND (\(sql: list(key.map(column)))) > (\(sql: list(values)))"
        }
        let order: SQL = key.isEmpty ? "" : "ORDER BY \(sql: list(key.map(column)))"
        var page = MovedRows(rows: [], last: [])
        try session.forEach(
            .unprepared(
                """
                SELECT to_jsonb(t)::text, ARRAY[\(sql: list(key.map { "\(sql: column($0))::text" }))]::text[]
                FROM \(identifier: name) t WHERE \(sql: condition) \(sql: order) LIMIT \(limit)
                """
            )
        ) { row in
            page.rows.append(try row.decode(0))
            page.last = try row.decode(1)
        }
        return page
    }

    /// Writes rows of a network that were read elsewhere, unless they are here already.
    func insert(_ page: MovedRows, of network: NetworkID, _ session: borrowing PostgresSession) throws {
        let names = list(columns.map { "\(identifier: $0)" })
        try removeDepartedNames(page, session)
        // One that arrives is not here yet.
        let row: SQL = name == "networks" ? "n.row || jsonb_build_object('away', 'in')" : "n.row"
        try session.execute(
            .unprepared(
                """
                INSERT INTO \(identifier: name) (\(sql: names))
                SELECT \(sql: list(columns.map(column)))
                FROM jsonb_array_elements(\(page.json)::text::jsonb)
                    WITH ORDINALITY AS n (row, place)
                CROSS JOIN LATERAL jsonb_populate_record(NULL::\(identifier: name), \(sql: row)) AS t
                ORDER BY n.place
                ON CONFLICT DO NOTHING
                """
            )
        )
        if name == "networks" { try session.forgetDeparture(of: network) }
    }

    /// Removes what departed networks have left under names that are another's now, who brings them.
    private func removeDepartedNames(_ page: MovedRows, _ session: borrowing PostgresSession) throws {
        let isSame: SQL
        switch name {
        case "faces": isSame = "f.external_id = t.external_id AND f.scope = t.scope"
        case "face_keys":
            isSame = "(f.hash = t.hash OR f.key_name = t.key_name AND f.sealed IS NOT NULL AND t.sealed IS NOT NULL)"
        default: return
        }
        try session.execute(
            .unprepared(
                """
                DELETE FROM \(identifier: name) f
                USING jsonb_populate_recordset(NULL::\(identifier: name), \(page.json)::text::jsonb) AS t
                WHERE f.face = t.face AND \(sql: isSame) AND \(sql: .isOfDeparted)
                """
            )
        )
    }

    func count(of network: NetworkID, _ session: borrowing PostgresSession) throws -> Int64 {
        let counting: SQL = "SELECT count(*) FROM \(identifier: name) WHERE network_id = \(network.rawValue)"
        return try session.first(.unprepared(counting)) ?? 0
    }

    private func column(_ name: String) -> SQL { "t.\(identifier: name)" }

    private func list(_ parts: [SQL]) -> SQL {
        parts.dropFirst().reduce(parts.first ?? "") { $0 + ", " + $1 }
    }
}
