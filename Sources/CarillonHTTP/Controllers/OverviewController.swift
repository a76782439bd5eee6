import CarillonCore
import CarillonEdge
import Hummingbird

/// How all networks fare, the worst first (API section 13). For operators.
struct OverviewController: Controller {
    let services: Services
    let overview: NetworkOverview

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/overview", use: list)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await services.authenticator.requireOperator(request, context)
        let query = QueryParameters(request)
        try query.refuseAll(but: "all")
        let page = try Page(query)
        let (items, next) = try await overview.reports(
            after: page.after { NetworkCursor($0) },
            limit: page.limit,
            ofAll: query.flag("all")
        )
        return page.answer(items, next: next?.description, incomplete: services.placements.unavailable, \.json)
    }
}

extension NetworkReport {
    fileprivate var json: JSONValue {
        [
            "network": .string(network.id.rawValue),
            "displayName": JSONValue(network.displayName),
            "state": .string(state.rawValue),
            "reasons": .array(troubles.map(\.json)),
            "events": ["lastHour": JSONValue(eventsOfLastHour)],
            "oldestSeconds": JSONValue(Int(oldestWait.components.seconds)),
        ]
    }
}

extension NetworkTrouble {
    fileprivate var json: JSONValue {
        [
            "kind": .string(kind.rawValue), "name": .string(name), "since": JSONValue(since),
            "detail": .string(detail),
        ]
    }
}
