package import CarillonCore
import Postgres

extension PostgresDirectoryStore {
    /// The users whose id or name begins with a text, whatever the case; with an empty one all.
    package func users(
        matching text: String,
        in network: NetworkID,
        after place: SearchPlace?,
        limit: Int
    ) async throws -> SearchPage<Person> {
        let search = DirectorySearch.users(of: network)
        return try await pool.snapshot { session in
            try search.page(matching: text, after: place, limit: limit, session) { row in
                Person(
                    id: try row.id(0),
                    displayName: try row.decode(1),
                    locale: try row.decode(4),
                    roles: try row.decode(5, as: String?.self).flatMap(StoredRoles.roles)
                )
            }
        }
    }

    /// The channels whose id or name begins with a text, whatever the case; with an empty one all.
    package func channels(
        matching text: String,
        in network: NetworkID,
        after place: SearchPlace?,
        limit: Int
    ) async throws -> SearchPage<Channel> {
        let search = DirectorySearch.channels(of: network)
        return try await pool.snapshot { session in
            try search.page(matching: text, after: place, limit: limit, session) { row in
                Channel(id: try row.id(0), displayName: try row.decode(1), isDirect: try row.decode(4))
            }
        }
    }
}

/// Finds what is called so by walking along an index from the first that could match: what a page reads is what it shows, however
/// many match, and one row more where they end. Of what is found by its name, what was found by its id is left out; so that a page
/// of those has a bound of its own.
struct DirectorySearch {
    /// How many more than a page holds are looked at among names.
    static let spareRows = 1000

    private let network: NetworkID
    private let table: SQL
    private let id: SQL
    private let columns: SQL

    /// The users of a network.
    static func users(of network: NetworkID) -> Self {
        Self(network: network, table: "users", id: "user_id", columns: "locale, roles")
    }

    /// The channels of a network.
    static func channels(of network: NetworkID) -> Self {
        Self(network: network, table: "channels", id: "channel_id", columns: "direct")
    }

    /// A page; `item` reads a row of id, name, key, whether the id matches as well, and what belongs to the table.
    func page<Item: Sendable>(
        matching text: String,
        after place: SearchPlace?,
        limit: Int,
        _ session: borrowing PostgresSession,
        _ item: (borrowing Row) throws -> Item
    ) throws -> SearchPage<Item> {
        typealias Found = (item: Item, id: String, key: String, isRepeated: Bool)
        func rows(_ sql: SQL, beginningWith prefix: String) throws -> (rows: [Found], areAll: Bool) {
            let rows = try session.queryQueue(sql) { row in
                (
                    item: try item(row), id: try row.decode(0, as: String.self),
                    key: try row.decode(2, as: String.self),
                    isRepeated: try row.decode(3, as: Bool.self)
                )
            }
            let matching = rows.prefix { $0.key.utf8.starts(with: prefix.utf8) }
            return (Array(matching), matching.count < rows.count)
        }
        let folded = try session.queryFirst(
            "SELECT folded(\(text)), left(folded(\(text)), \(SearchText.orderedCharacters)::integer)"
        ) { row in (whole: try row.decode(0, as: String.self), cut: try row.decode(1, as: String.self)) }
        guard let folded else { return SearchPage(items: []) }
        try session.walkAlongIndexes()
        var items: [Item] = []
        var start: (key: String, id: String) = (folded.cut, "")
        switch place {
        case .name(let key, let id): start = (key, id)
        case .id, nil:
            var (key, id) = (folded.whole, "")
            if case .id(let lastKey, let lastID) = place { (key, id) = (lastKey, lastID) }
            let found = try rows(byID(after: key, id, limit: limit + 1), beginningWith: folded.whole).rows
            items = found.prefix(limit).map(\.item)
            if found.count > limit {
                return SearchPage(items: items, next: .id(key: found[limit - 1].key, id: found[limit - 1].id))
            }
            // Everything has an id that begins with nothing.
            if text.isEmpty { return SearchPage(items: items) }
        }
        let reach = limit + 1 + Self.spareRows
        let (found, areAll) = try rows(
            byName(after: start.key, start.id, beginningWith: folded.whole, limit: reach),
            beginningWith: folded.cut
        )
        for (index, row) in found.enumerated() {
            if items.count == limit {
                guard index > 0 else { return SearchPage(items: items, next: .name(key: start.key, id: start.id)) }
                return SearchPage(items: items, next: .name(key: found[index - 1].key, id: found[index - 1].id))
            }
            if !row.isRepeated { items.append(row.item) }
        }
        guard !areAll, found.count == reach, let last = found.last else { return SearchPage(items: items) }
        return SearchPage(items: items, next: .name(key: last.key, id: last.id))
    }

    /// What follows in the order of ids.
    func byID(after key: String, _ id: String, limit: Int) -> SQL {
        """
        SELECT \(sql: self.id), display_name, folded(\(sql: self.id)), false, \(sql: columns) FROM \(sql: table)
        WHERE network_id = \(network.rawValue) AND NOT deleted
            AND (folded(\(sql: self.id)), \(sql: self.id)) > (\(key), \(id))
        ORDER BY network_id, folded(\(sql: self.id)), \(sql: self.id) LIMIT \(limit)
        """
    }

    /// What follows in the order of names. A name that is longer than what the order knows of it may begin otherwise.
    func byName(after key: String, _ id: String, beginningWith text: String, limit: Int) -> SQL {
        let name: SQL = "(left(folded(display_name), 100) COLLATE \"C\")"
        return """
            SELECT \(sql: self.id), display_name, \(sql: name),
                   starts_with(folded(\(sql: self.id)), \(text)) OR NOT starts_with(folded(display_name), \(text)),
                   \(sql: columns)
            FROM \(sql: table)
            WHERE network_id = \(network.rawValue) AND NOT deleted AND display_name IS NOT NULL
                AND (\(sql: name), \(sql: self.id)) > (\(key), \(id))
            ORDER BY network_id, \(sql: name), \(sql: self.id) LIMIT \(limit)
            """
    }
}
