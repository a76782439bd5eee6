import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Says what would happen to one user by an event, without doing it (API section 5). For admins.
struct ExplainController: Controller {
    let services: Services
    private let explainer: Explainer

    init(services: Services) {
        self.services = services
        explainer = Explainer(
            recipients: services.recipients,
            toggles: services.toggles,
            catalog: services.catalog,
            endpoints: { try await services.endpoints.endpoints(of: $0) }
        )
    }

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.post("/v1/networks/{network}/explain", use: explain)
    }

    private func explain(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let body = try await RequestBodyReader.json(of: request)
        let (user, eventJSON) = try body.read(as: "invalid-explanation") { reader -> (UserID, JSONValue)? in
            let user = reader.userID("userId", required: true)
            let event = reader.value("event", required: true)
            guard let user, let event else { return nil }
            return (user, event)
        }
        let addresses = services.addressReader(for: access.network)
        let event = try EmbeddedEvent.event(eventJSON, addresses: addresses, clock: services.clock)
        return .json(try await explainer.explain(event, to: user, in: access.networkID).json)
    }
}
