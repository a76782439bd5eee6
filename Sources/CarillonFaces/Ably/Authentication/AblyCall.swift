import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// A request of a caller who is known.
struct AblyCall: Sendable {
    let request: Request
    let context: CarillonRequestContext
    let caller: AblyCaller

    var network: NetworkID { caller.network.id }

    func object() async throws -> JSONObject { try await AblyBody.object(of: request) }
}

/// Adds routes that are for callers who are known.
struct AblyRoutes {
    let routes: FaceRoutes
    let authenticator: AblyAuthenticator

    func on(
        _ method: HTTPRequest.Method,
        _ path: RouterPath,
        as operation: String,
        readsPages: Bool = false,
        use handler: @escaping @Sendable (AblyCall) async throws -> Response
    ) {
        routes.on(method, path, as: operation, readsPages: readsPages) { [authenticator] request, context in
            let caller = try await authenticator.caller(request, context)
            return try await handler(AblyCall(request: request, context: context, caller: caller))
        }
    }
}
