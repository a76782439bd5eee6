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
