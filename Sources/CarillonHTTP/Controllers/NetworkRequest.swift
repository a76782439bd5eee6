import CarillonCore
import CarillonEdge
import Hummingbird

/// A request about a network, of somebody who may ask it.
struct NetworkRequest: Sendable {
    let http: Request
    let context: CarillonRequestContext
    let access: Access

    var network: NetworkID { access.networkID }
    var query: QueryParameters { QueryParameters(http) }

    func id<Subject>(_ name: String, as subject: Subject.Type = Subject.self) throws(Problem) -> Identifier<Subject> {
        try context.identifier(name)
    }

    /// The user of the path: anybody of an admin's network, and otherwise the caller.
    func user() throws(Problem) -> UserID { try access.user(id("user")) }

    /// The same; callers learn nothing of others, not even that they are there.
    func knownUser() throws(Problem) -> UserID { try access.knownUser(id("user")) }

    /// An id that we made, in the path: anything else than a UUID names nothing.
    func eventID(_ name: String = "id") throws(Problem) -> EventID { try EventID(context.segment(name)).found() }

    func page() throws(Problem) -> Page { try Page(query) }

    func json() async throws -> JSONValue { try await RequestBodyReader.json(of: http) }

    func mergePatch() async throws -> JSONValue {
        try await RequestBodyReader.json(of: http, types: ContentType.mergePatch)
    }

    /// Passes a body without any member, and none.
    func passEmptyBody(as problem: String) async throws {
        // The optimiser of Swift 6.3.1 crashes on an optional chain here.
        if let body = try await RequestBodyReader.optionalJSON(of: http) { try body.read(as: problem) { _ in () } }
    }

    /// Makes another secret of webhooks, which is shown once. The body is `{"overlapSeconds":…}`, and may be left out.
    ///
    /// - Parameters:
    ///   - name: The member of the answer that shows it.
    ///   - rotate: Stores it, beside the former one for the overlap.
    /// - Returns: The answer; `nil` where there is nothing that has secrets.
    /// - Throws: What is wrong with the body, and what `rotate` throws.
    func rotatingSecret(
        shownAs name: String,
        _ rotate: (WebhookSecret, _ overlap: Duration, IdempotentRequest?) async throws -> Creation
    ) async throws -> Response? {
        let body = try await RequestBodyReader.optionalJSON(of: http)
        let overlap = try (body ?? [:]).read(as: "invalid-rotation") { $0.overlap() }
        let secret = WebhookSecret.generate()
        let answer: JSONValue = [name: .string(secret.text.reveal { $0 })]
        return try await rotate(secret, overlap, repeatable(body, answering: answer)).response(answer)
    }

    /// The request as it is recognised again; `nil` when it has no `Idempotency-Key`.
    func repeatable(_ body: JSONValue?, answering answer: JSONValue) throws(Problem) -> IdempotentRequest? {
        try IdempotentRequest(http, by: access.admin, in: network, body: body, answer: answer)
    }

    /// Answers a page of a list: `find` has what comes behind a key, up to so many.
    func list<Key, Item>(
        by key: (Item) -> String,
        after read: (String) -> Key?,
        json: (Item) -> JSONValue,
        _ find: (_ after: Key?, _ limit: Int) async throws -> [Item]
    ) async throws -> Response {
        let page = try page()
        return page.answer(try await find(page.after(read), page.fetchLimit), key: key, json)
    }

    /// Answers a page of what `find` finds in the directory whose ids or names begin with a text.
    func search<Item>(
        json: (Item) -> JSONValue,
        _ find: (_ text: String, _ after: SearchCursor?, _ limit: Int) async throws -> SearchPage<Item>
    ) async throws -> Response {
        try query.refuseAll(but: "query")
        let page = try page()
        let text = try query.text("query") ?? ""
        // What no id can be, no query can be.
        guard Identifier<Never>(text) != nil || ["", ".", ".."].contains(text) else {
            let limit = SearchText.maximumBytes
            throw Problem.invalidParameter("query", "must be at most \(limit) bytes without control characters")
        }
        let found = try await find(text, page.after { SearchCursor($0) }, page.limit)
        return page.answer(found.items, next: found.next?.description, json)
    }
}
