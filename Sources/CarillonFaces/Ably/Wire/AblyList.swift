import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Filters of a query, in the spelling of the documentation and in that of the Python SDK.
struct AblyFilters {
    /// What requests carry besides filters.
    private static let harmless: Set<String> = [
        "access_token", "envelope", "format", "fullWait", "heartbeats", "request_id", "requestId", "rnd", "v",
    ]

    private let query: QueryParameters

    init(_ request: Request) {
        query = QueryParameters(request)
    }

    /// A filter; `nil` when it is not there.
    /// - Throws: 40003 when it is there twice, be it in both spellings.
    func text(_ name: String) throws -> String? {
        let spelled = Self.snakeCase(name)
        let (value, other) = (try query.text(name), spelled == name ? nil : try query.text(spelled))
        guard value == nil || other == nil else { throw AblyError.query("\(name) must be given once") }
        return value ?? other
    }

    func device() throws -> DeviceID? { try text("deviceId").map { text in try DeviceID(ablyDevice: text) } }

    func client() throws -> UserID? {
        try text("clientId").map { text in
            guard let id = UserID(text) else { throw AblyError.client }
            return id
        }
    }

    func channel() throws -> TagID? { try text("channel").map { text in try TagID(ablyChannel: text) } }

    /// `true` or `false`.
    func flag(_ name: String) throws -> Bool {
        switch try text(name) {
        case nil, "false", "0": false
        case "true", "1": true
        default: throw AblyError.query("\(name) must be true or false")
        }
    }

    private static func snakeCase(_ name: String) -> String {
        name.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
    }

    /// Refuses filters that are not understood, where they would have narrowed what is removed.
    func refuseAll(but names: Set<String>) throws(AblyError) {
        let known = names.union(names.map(Self.snakeCase))
        guard query.names.allSatisfy({ known.contains($0) || Self.harmless.contains($0) }) else {
            throw .query("a filter of this request is not known: nothing was removed")
        }
    }
}

/// A page of a list with links to others, as SDKs follow them.
struct AblyPage {
    let limit: Int
    /// The place behind which they begin.
    let cursor: String?
    private let name: String
    private let parameters: [(String, String)]

    /// The page that a request asks for.
    ///
    /// - Throws: 40003 for a limit that is none.
    init(_ request: Request, parameters names: [String]) throws {
        let filters = AblyFilters(request)
        limit =
            try filters.text("limit").map { text in
                guard let limit = Int(text), (1...1000).contains(limit), text.utf8.first != UInt8(ascii: "+") else {
                    throw AblyError.query("limit must be a whole number from 1 to 1000")
                }
                return limit
            } ?? 100
        cursor = try filters.text("cursor")
        name = String(request.uri.path.split(separator: "/").last ?? "")
        parameters =
            [("limit", "\(limit)")]
            + (try names.compactMap { name in try filters.text(name).map { (name, $0) } })
            + (try filters.text("format").map { [("format", $0)] } ?? [])
    }

    func after<Key>(_ read: (String) -> Key?) throws(AblyError) -> Key? {
        guard let cursor else { return nil }
        guard let text = Base64URL.text(cursor), let key = read(text) else {
            throw .query("cursor must be that of another page's link")
        }
        return key
    }

    /// The answer: what was fetched, without the item too many; `json` leaves out what the caller may not see.
    func answer<Item>(
        _ fetched: [Item],
        key: (Item) -> String,
        to request: Request,
        _ json: (Item) -> JSONValue?
    ) -> Response {
        let items = fetched.prefix(limit)
        return answer(items.compactMap(json), next: fetched.count > limit ? items.last.map(key) : nil, to: request)
    }

    /// The answer: items, and the key of the last one where there are more behind it.
    func answer(_ items: [JSONValue], next: String?, to request: Request) -> Response {
        var response = Response.ably(.array(items), to: request)
        response.headers.append(link("first", nil))
        response.headers.append(link("current", cursor))
        if let next { response.headers.append(link("next", Base64URL.encode(next.utf8))) }
        return response
    }

    private func link(_ relation: String, _ cursor: String?) -> HTTPField {
        let all = parameters + (cursor.map { [("cursor", $0)] } ?? [])
        let query = all.map { "\($0.0)=\($0.1.percentEncoded)" }.joined(separator: "&")
        return HTTPField(name: .link, value: "<./\(name)?\(query)>; rel=\"\(relation)\"")
    }
}
