import CarillonCore
import CarillonEdge
import Hummingbird

/// The placements that networks are kept in. For operators.
struct PlacementController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/placements", use: list)
        router.patch("/v1/placements/{name}", use: update)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await services.authenticator.requireOperator(request, context)
        return .json(.array(try await services.placements.statuses().map(\.json)))
    }

    private func update(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await services.authenticator.requireOperator(request, context)
        let patch = try await RequestBodyReader.json(of: request, types: ContentType.mergePatch)
        let state = try patch.read(as: "invalid-placement") { reader in
            reader.choice("state", as: PlacementState.self, required: true)
        }
        guard let name = PlacementName(context.parameters.get("name") ?? "") else { throw Problem.notFound() }
        if !services.placements.areSeveral, services.placements.names.contains(name), state != .open {
            throw Problem.conflict("only-placement", "there is one placement, which takes all networks")
        }
        return .json(try await services.placements.setState(state, of: name).found().json)
    }
}

extension PlacementStatus {
    fileprivate var json: JSONValue {
        [
            "name": .string(record.name.rawValue),
            "state": .string(record.state.rawValue),
            "ready": .bool(look.reason == nil),
            "reason": JSONValue(look.reason),
            "networks": JSONValue(record.networks),
            "schema": look.schema?.json ?? .null,
            "bytes": JSONValue(look.bytes.map { Int($0) }),
        ]
    }
}

extension MigrationStatus {
    fileprivate var json: JSONValue {
        ["version": JSONValue(version), "pending": JSONValue(pending)]
    }
}
