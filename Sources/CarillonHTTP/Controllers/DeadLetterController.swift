import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Deliveries that were given up (API section 8). For admins.
struct DeadLetterController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/dead-letters") { request in
            let read = { (text: String) in EventID(text)?.uuid }
            return try await request.list(by: \DeadLetter.id.canonicalText, after: read, json: \DeadLetter.json) {
                try await services.history.deadLetters(in: request.network, after: $0, limit: $1)
            }
        }
        admins.post("/dead-letters/{id}/retry") { request in
            let id = try request.eventID().uuid
            try await request.passEmptyBody(as: "invalid-retry")
            let lane = try await services.history.reviveDeadLetter(id, in: request.network).found()
            services.recorder.revived(lane)
            return .json(["id": .string(id.canonicalText), "state": "pending"], status: .accepted)
        }
        admins.remove("/dead-letters/{id}") { request in
            try await services.history.deleteDeadLetter(request.eventID().uuid, in: request.network)
        }
    }
}
