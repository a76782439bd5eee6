import CarillonCore
import CarillonEdge
import Hummingbird

/// Whose credentials these are. For everybody who has some.
struct CallerController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.get("/v1/whoami", use: show)
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await services.authenticator.caller(request, context)
        return .json([
            "role": .string(caller.principal.name),
            "network": caller.networkID.map { .string($0.rawValue) } ?? .null,
            "userId": caller.principal.userID.map { .string($0.rawValue) } ?? .null,
        ])
    }
}

extension Principal {
    fileprivate var name: String {
        switch self {
        case .operator: "operator"
        case .apiKey(let role): role.rawValue
        case .user: "user"
        }
    }
}
