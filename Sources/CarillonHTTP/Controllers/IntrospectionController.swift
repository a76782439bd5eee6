import CarillonCore
import CarillonEdge
import Hummingbird

/// Whom a network asks about user tokens that are none of Carillon's (FACES section F1). For admins.
struct IntrospectionController: Controller {
    private static let path = "/user-token-introspection"

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.show(Self.path) { request in
            try await services.accounts.network(request.network)?.introspection?.json
        }
        admins.put(Self.path, use: put)
        admins.delete(Self.path) { request in
            try await set(nil, of: request.network)
            return .noContent
        }
    }

    private func put(_ request: NetworkRequest) async throws -> Response {
        let body = try await request.json()
        let introspection = try body.read(as: "invalid-introspection") { reader in
            UserTokenIntrospection(&reader).flatMap { reader.admits($0.url, as: "url", by: services.egress) ? $0 : nil }
        }
        try await set(introspection, of: request.network)
        return .json(introspection.json)
    }

    private func set(_ introspection: UserTokenIntrospection?, of id: NetworkID) async throws {
        let network = try await services.accounts.updateNetwork(id) { network in
            var changed = network
            changed.introspection = introspection
            return changed
        }
        services.cache.invalidate(id)
        _ = try network.found()
    }
}
