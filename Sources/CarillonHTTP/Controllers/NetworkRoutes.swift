import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Adds routes about a network, which are answered to those who have proved that they may ask.
struct NetworkRoutes {
    typealias Handler = @Sendable (NetworkRequest) async throws -> Response

    let router: Router<CarillonRequestContext>
    /// Finds out who calls; throws where they may not.
    let authenticate: @Sendable (Request, CarillonRequestContext) async throws -> Access

    func get(_ path: String, use handler: @escaping Handler) { add(.get, path, to: router, handler) }
    func put(_ path: String, use handler: @escaping Handler) { add(.put, path, to: router, handler) }
    func patch(_ path: String, use handler: @escaping Handler) { add(.patch, path, to: router, handler) }
    func post(_ path: String, use handler: @escaping Handler) { add(.post, path, to: router, handler) }
    func delete(_ path: String, use handler: @escaping Handler) { add(.delete, path, to: router, handler) }

    /// Adds a `GET` that reads pages.
    func pages(_ path: String, use handler: @escaping Handler) { add(.get, path, to: router.pages, handler) }

    /// Adds the `GET` of something; 404 where there is nothing.
    func show(_ path: String, _ find: @escaping @Sendable (NetworkRequest) async throws -> JSONValue?) {
        get(path) { .json(try await find($0).found()) }
    }

    /// Adds the `PUT` of something: 201 where it is new.
    func store(
        _ path: String,
        _ write: @escaping @Sendable (NetworkRequest) async throws -> (stored: JSONValue, isNew: Bool)
    ) {
        put(path) { request in
            let (stored, isNew) = try await write(request)
            return .json(stored, status: isNew ? .created : .ok)
        }
    }

    /// Adds the `DELETE` of something; 404 where there was nothing.
    func remove(_ path: String, _ remove: @escaping @Sendable (NetworkRequest) async throws -> Bool) {
        delete(path) { request in
            guard try await remove(request) else { throw Problem.notFound() }
            return .noContent
        }
    }

    private func add(
        _ method: HTTPRequest.Method,
        _ path: String,
        to routes: any RouterMethods<CarillonRequestContext>,
        _ handler: @escaping Handler
    ) {
        routes.on(RouterPath("/v1/networks/{network}" + path), method: method) { [authenticate] request, context in
            let access = try await authenticate(request, context)
            return try await handler(NetworkRequest(http: request, context: context, access: access))
        }
    }
}

/// A request about a network, of somebody who may ask it.
struct NetworkRequest: Sendable {
    let http: Request
    let context: CarillonRequestContext
    let access: Access

    var network: NetworkID { access.networkID }
    var query: QueryParameters { QueryParameters(http) }

    /// An id of the path.
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
}
