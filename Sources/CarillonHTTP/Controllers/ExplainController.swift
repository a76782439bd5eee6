import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Says what would happen to one user by an event, without doing it (API section 5). For admins.
struct ExplainController: Sendable {
    let authenticator: Authenticator
    let explainer: Explainer
    let egress: EgressGuard
    let clock: WallClock

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.post("/v1/networks/{network}/explain", use: explain)
    }

    private func explain(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await authenticator.admin(request, context)
        let body = try await RequestBodyReader.json(of: request)
        let (user, eventJSON) = try body.read(as: "invalid-explanation") { reader -> (UserID, JSONValue)? in
            let user = reader.userID("userId", required: true)
            let event = reader.value("event", required: true)
            guard let user, let event else { return nil }
            return (user, event)
        }
        let addresses = DeviceAddressReader(egress: egress, webPushHosts: access.network.webPushHosts)
        let event = try EmbeddedEvent.event(eventJSON, addresses: addresses, clock: clock)
        return .json(try await explainer.explain(event, to: user, in: access.networkID).json)
    }
}
