package import CarillonCore
package import Hummingbird

/// Which part of a list is wanted: `limit` and `cursor` (API section 1).
package struct Page {
    /// What queries of lists may always have.
    static let parameters: [Substring] = ["limit", "cursor"]

    private static let limits = 1...1000

    package let limit: Int
    /// The key after which they begin; `nil` for the first page.
    package let after: String?

    /// The page that a request asks for.
    ///
    /// - Throws: `invalid-parameter` for a limit outside of 1 to 1000, and for a cursor that no answer gave.
    package init(_ query: QueryParameters) throws(Problem) {
        if let text = try query.text("limit") {
            guard let limit = Int(text), Self.limits.contains(limit), text.utf8.first != UInt8(ascii: "+") else {
                throw .invalidParameter("limit", "must be a whole number from 1 to \(Self.limits.upperBound)")
            }
            self.limit = limit
        } else {
            limit = 100
        }
        after = try query.text("cursor").map { cursor throws(Problem) in
            guard let bytes = Base64URL.decode(cursor.utf8), !bytes.isEmpty, !bytes.contains(0),
                let key = String(validating: bytes, as: UTF8.self), key.utf8.count <= 1024
            else { throw Self.invalidCursor }
            return key
        }
    }

    /// How many items to ask a store for: one more says whether there is a next page.
    package var fetchLimit: Int { limit + 1 }

    /// The key after which the page begins, read as what the list is ordered by.
    package func after<Key>(_ read: (String) -> Key?) throws(Problem) -> Key? {
        guard let after else { return nil }
        guard let key = read(after) else { throw Self.invalidCursor }
        return key
    }

    /// The answer: what was fetched, without the item too many, and the cursor of the next page.
    package func answer<Item>(
        _ fetched: [Item],
        key: (Item) -> String,
        incomplete: [PlacementName] = [],
        _ json: (Item) -> JSONValue
    ) -> Response {
        let items = fetched.prefix(limit)
        return answer(items, next: fetched.count > limit ? items.last.map(key) : nil, incomplete: incomplete, json)
    }

    /// The answer: a page as a store made it, and the key of the next one; with the placements whose networks are missing in it.
    package func answer<Item>(
        _ items: some Collection<Item>,
        next: String?,
        incomplete: [PlacementName] = [],
        _ json: (Item) -> JSONValue
    ) -> Response {
        .json([
            "items": .array(items.map(json)),
            "next": next.map { .string(Base64URL.encode($0.utf8)) },
            "incomplete": incomplete.isEmpty ? nil : JSONValue(incomplete.map(\.rawValue)),
        ])
    }

    private static let invalidCursor = Problem.invalidParameter("cursor", "must be what `next` of another page was")
}
