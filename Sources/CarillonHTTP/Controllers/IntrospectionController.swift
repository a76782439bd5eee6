import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Whom a network asks about user tokens that are none of Carillon's (FACES section F1). For admins.
struct IntrospectionController: Controller {
    private static let path: RouterPath = "/v1/networks/{network}/user-token-introspection"

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.get(Self.path, use: show)
        router.put(Self.path, use: put)
        router.delete(Self.path, use: delete)
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        guard let introspection = try await services.accounts.network(access.networkID)?.introspection else {
            throw Problem.notFound()
        }
        return .json(introspection.json)
    }

    private func put(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let body = try await RequestBodyReader.json(of: request)
        let introspection = try body.read(as: "invalid-introspection") { reader in
            UserTokenIntrospection(&reader).flatMap { reader.admits($0.url, as: "url", by: services.egress) ? $0 : nil }
        }
        try await set(introspection, access)
        return .json(introspection.json)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await set(nil, admin(request, context))
        return .noContent
    }

    private func set(_ introspection: UserTokenIntrospection?, _ access: Access) async throws {
        let network = try await services.accounts.updateNetwork(access.networkID) { network in
            var changed = network
            changed.introspection = introspection
            return changed
        }
        services.cache.invalidate(access.networkID)
        guard network != nil else { throw Problem.notFound() }
    }
}
