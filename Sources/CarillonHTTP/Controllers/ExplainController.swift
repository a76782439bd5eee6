import CarillonCore
import CarillonEdge
import Hummingbird

/// Says what would happen to one user by an event, without doing it (API section 5). For admins.
struct ExplainController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        admins(router).post("/explain", use: explain)
    }

    private func explain(_ request: NetworkRequest) async throws -> Response {
        let body = try await request.json()
        let (user, eventJSON) = try body.read(as: "invalid-explanation") { reader -> (UserID, JSONValue)? in
            let user = reader.userID("userId", required: true)
            let event = reader.value("event", required: true)
            guard let user, let event else { return nil }
            return (user, event)
        }
        let addresses = services.addressReader(for: request.access.network)
        let event = try EmbeddedEvent.event(eventJSON, addresses: addresses, clock: services.clock)
        let explainer = Explainer(
            recipients: services.recipients,
            toggles: services.toggles,
            catalog: services.catalog,
            endpoints: { try await services.endpoints.endpoints(of: $0) }
        )
        return .json(try await explainer.explain(event, to: user, in: request.network).json)
    }
}

extension Explanation {
    var json: JSONValue {
        [
            "verdict": decidedBy == nil ? "deliver" : "suppress",
            "decidedBy": JSONValue(decidedBy?.rawValue),
            "reason": JSONValue(reason),
            "levels": .array(
                levels.map {
                    [
                        "level": .string($0.level.rawValue),
                        "allows": .bool($0.allows),
                        "updatedAt": JSONValue($0.updatedAt),
                    ]
                }
            ),
            "notification": notification.map {
                ["locale": .string($0.locale), "title": .string($0.title), "body": .string($0.body)]
            } ?? .null,
            "devices": .array(
                devices.map {
                    ["id": .string($0.id.rawValue), "provider": .string($0.address.provider.rawValue)]
                }
            ),
            "interception": interceptor.map {
                ["endpointId": .string($0.id.rawValue), "onFailure": .string($0.terms.onFailure.rawValue)]
            },
        ]
    }
}
