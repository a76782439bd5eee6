import CarillonCore
import CarillonEdge
import Foundation
import HTTPTypes
import Hummingbird

/// Deliveries that were given up (API section 8). For admins.
struct DeadLetterController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/dead-letters", use: list)
        router.post("/v1/networks/{network}/dead-letters/{id}/retry", use: retry)
        router.delete("/v1/networks/{network}/dead-letters/{id}", use: delete)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let page = try Page(QueryParameters(request))
        let letters = try await services.history.deadLetters(
            in: access.networkID,
            after: page.after { EventID($0)?.uuid },
            limit: page.fetchLimit
        )
        return page.answer(letters, key: \.id.canonicalText, \.json)
    }

    private func retry(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let id = try letterID(context)
        try await RequestBodyReader.passEmpty(of: request, as: "invalid-retry")
        let lane = try await services.history.reviveDeadLetter(id, in: access.networkID).found()
        services.recorder.revived(lane)
        return .json(["id": .string(id.canonicalText), "state": "pending"], status: .accepted)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        guard try await services.history.deleteDeadLetter(try letterID(context), in: access.networkID) else {
            throw Problem.notFound()
        }
        return .noContent
    }

    /// The id is ours, so that anything else than a UUID names no letter.
    private func letterID(_ context: CarillonRequestContext) throws(Problem) -> UUID {
        guard let id = EventID(try context.segment("id")) else { throw .notFound() }
        return id.uuid
    }
}
