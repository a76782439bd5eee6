package import CarillonCore
package import HTTPTypes
package import Hummingbird

/// Adds a face's routes: each has a name of its own in metrics and in what admins see, and none is there before a network has bound
/// one of the face's names.
package struct FaceRoutes {
    package typealias Handler = @Sendable (Request, CarillonRequestContext) async throws -> Response

    private let face: FaceName
    private let router: Router<CarillonRequestContext>
    private let lookup: @Sendable () async throws -> FaceLookup
    private let failures: FailedRequests

    package init(
        _ face: FaceName,
        on router: Router<CarillonRequestContext>,
        lookup: @escaping @Sendable () async throws -> FaceLookup,
        failures: FailedRequests = FailedRequests()
    ) {
        self.face = face
        self.router = router
        self.lookup = lookup
        self.failures = failures
    }

    /// Adds a route, which metrics know as an operation of a word or two in small letters. If it `readsPages`, those who read for a whole
    /// network wait for a permit: see ``PageSemaphore``.
    package func on(
        _ method: HTTPRequest.Method,
        _ path: RouterPath,
        as operation: String,
        readsPages: Bool = false,
        use handler: @escaping Handler
    ) {
        let routes: any RouterMethods<CarillonRequestContext> = readsPages ? router.pages : router
        routes.on(path, method: method) { [face, lookup, failures] request, context in
            context.face.note(operation: operation)
            // What failed on its event loop fails as it did there.
            if let failure = failures.take(context.channel) {
                context.face.note(network: failure.network)
                context.caller.note(since: failure.since)
                throw failure.error
            }
            guard try await lookup().isBound(face) else { throw Problem.notFound() }
            return try await handler(request, context)
        }
    }
}
