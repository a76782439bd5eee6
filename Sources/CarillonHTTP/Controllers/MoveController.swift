import CarillonCore
import CarillonEdge
import struct Foundation.UUID
import HTTPTypes
import Hummingbird

/// Networks that move from one placement to another. For operators.
struct MoveController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.get("/v1/networks/{network}/move", use: show)
        router.post("/v1/networks/{network}/move", use: begin)
        router.delete("/v1/networks/{network}/move", use: cancel)
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let network = try await network(request, context)
        return .json(try await services.placements.lastMove(of: network).found().json)
    }

    private func begin(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let network = try await network(request, context)
        let target = try await RequestBodyReader.json(of: request).read(as: "invalid-move") { reader in
            reader.placement("to", required: true)
        }
        guard services.placements.names.contains(target) else {
            let detail = "there is no placement \(target.rawValue.debugDescription)"
            throw InvalidInput(problem: "invalid-move", pointer: "/to", detail: detail)
        }
        guard services.placements.areSeveral else {
            _ = try await services.accounts.network(network).found()
            let move = NetworkMove(
                id: UUID(),
                network: network,
                source: target,
                target: target,
                step: .done,
                startedAt: services.clock.now()
            )
            return .json(move.json)
        }
        let (move, hasBegun) = try await services.placements.move(network, to: target).found()
        return .json(move.json, status: hasBegun ? .accepted : .ok)
    }

    private func cancel(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let network = try await network(request, context)
        return .json(try await services.placements.cancelMove(of: network).found().json, status: .accepted)
    }

    private func network(_ request: Request, _ context: CarillonRequestContext) async throws -> NetworkID {
        let network = try context.identifier("network", as: Network.self)
        try await services.authenticator.requireOperator(request, context, networkID: network)
        return network
    }
}

extension NetworkMove {
    fileprivate var json: JSONValue {
        [
            "from": .string(source.rawValue),
            "to": .string(target.rawValue),
            "step": .string(step.rawValue),
            "rows": JSONValue(Int(rows)),
            "bytes": JSONValue(Int(bytes)),
            "startedAt": JSONValue(startedAt),
            "frozenMs": JSONValue(Int(frozen.wholeMilliseconds)),
            "reason": reason.map(JSONValue.string),
        ]
    }
}
