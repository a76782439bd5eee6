package import CarillonCore
import Postgres

extension PostgresDirectoryStore {
    package func users(
        matching text: String,
        in network: NetworkID,
        after cursor: SearchCursor?,
        limit: Int
    ) async throws -> SearchPage<Person> {
        let search = DirectorySearch.users(of: network)
        return try await databases.of(network).pool.snapshot { session in
            try search.page(matching: text, after: cursor, limit: limit, session) { row in try row.person(localeAt: 4) }
        }
    }

    package func channels(
        matching text: String,
        in network: NetworkID,
        after cursor: SearchCursor?,
        limit: Int
    ) async throws -> SearchPage<Channel> {
        let search = DirectorySearch.channels(of: network)
        return try await databases.of(network).pool.snapshot { session in
            try search.page(matching: text, after: cursor, limit: limit, session) { row in
                Channel(id: try row.id(0), displayName: try row.decode(1), isDirect: try row.decode(4))
            }
        }
    }
}

/// Finds what is called so by walking along an index from the first that could match: what a page reads is what it shows, however
/// many match, and one row more where they end. Of what is found by its name, what was found by its id is left out, and of what is
/// found by another word of its name, what was found by either; so that a page of those has a bound of its own.
struct DirectorySearch {
    /// How many more than a page holds are looked at among names.
    static let spareRows = 1000

    private let network: NetworkID
    private let table: SQL
    private let id: SQL
    private let columns: SQL

    static func users(of network: NetworkID) -> Self {
        Self(network: network, table: "users", id: "user_id", columns: "locale, roles")
    }

    static func channels(of network: NetworkID) -> Self {
        Self(network: network, table: "channels", id: "channel_id", columns: "direct")
    }

    /// A page; `item` reads a row of id, name, key, whether the id matches as well, and what belongs to the table.
    func page<Item: Sendable>(
        matching text: String,
        after cursor: SearchCursor?,
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
        let reach = limit + 1 + Self.spareRows
        /// Adds what begins like the text; the page is over where it is full, or has looked at enough.
        func fill(
            _ sql: (String, String) -> SQL,
            after start: (key: String, id: String),
            as cursor: (String, String) -> SearchCursor
        ) throws -> SearchPage<Item>? {
            let (found, areAll) = try rows(sql(start.key, start.id), beginningWith: folded.cut)
            var last = start
            for row in found {
                if items.count == limit { return SearchPage(items: items, next: cursor(last.key, last.id)) }
                if !row.isRepeated { items.append(row.item) }
                last = (row.key, row.id)
            }
            guard !areAll, found.count == reach else { return nil }
            return SearchPage(items: items, next: cursor(last.key, last.id))
        }
        var names: (key: String, id: String)? = (folded.cut, "")
        var words = (key: folded.cut, id: "")
        switch cursor {
        case .word(let key, let id): (names, words) = (nil, (key, id))
        case .name(let key, let id): names = (key, id)
        case .id, nil:
            var (key, id) = (folded.whole, "")
            if case .id(let lastKey, let lastID) = cursor { (key, id) = (lastKey, lastID) }
            let found = try rows(byID(after: key, id, limit: limit + 1), beginningWith: folded.whole).rows
            items = found.prefix(limit).map(\.item)
            if found.count > limit {
                return SearchPage(items: items, next: .id(key: found[limit - 1].key, id: found[limit - 1].id))
            }
            // Everything has an id that begins with nothing.
            if text.isEmpty { return SearchPage(items: items) }
        }
        if let names {
            let byName = { key, id in self.byName(after: key, id, beginningWith: folded.whole, limit: reach) }
            if let page = try fill(byName, after: names, as: SearchCursor.name) { return page }
        }
        let byWord = { key, id in self.byWord(after: key, id, beginningWith: folded.whole, limit: reach) }
        return try fill(byWord, after: words, as: SearchCursor.word) ?? SearchPage(items: items)
    }

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

    /// What follows in the order of the other words of names; each is found by the first of its words that match.
    func byWord(after key: String, _ id: String, beginningWith text: String, limit: Int) -> SQL {
        """
        SELECT w.id, n.display_name, w.key, n.deleted IS NOT FALSE
                   OR starts_with(folded(w.id), \(text)) OR starts_with(folded(n.display_name), \(text))
                   OR w.key IS DISTINCT FROM (
                       SELECT min(left(tail, 100) COLLATE "C") FILTER (WHERE starts_with(tail, \(text)))
                       FROM name_tails(n.display_name) AS tail),
               \(sql: columns)
        FROM (
            SELECT key, id FROM name_words
            WHERE network_id = \(network.rawValue) AND list = \(table.text) AND (key, id) > (\(key), \(id))
            ORDER BY network_id, list, key, id LIMIT \(limit)
        ) AS w
        LEFT JOIN \(sql: table) n ON n.network_id = \(network.rawValue) AND n.\(sql: self.id) = w.id
        ORDER BY w.key, w.id
        """
    }
}
