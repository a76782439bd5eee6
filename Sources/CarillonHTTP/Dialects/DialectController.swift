import CarillonCore
import CarillonDialects
import CarillonEdge
import HTTPTypes
import Hummingbird

/// What a network says of other backends' webhooks, and what became of them (DIALECTS sections 1 and 18). For admins.
struct DialectController: Controller {
    let services: Services
    let journal: PostJournal

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/dialects", use: list)
        router.get("/v1/networks/{network}/dialects/{dialect}", use: show)
        router.put("/v1/networks/{network}/dialects/{dialect}", use: replace)
        router.delete("/v1/networks/{network}/dialects/{dialect}", use: delete)
        router.pages.get("/v1/networks/{network}/dialects/{dialect}/recent", use: recent)
        router.post("/v1/networks/{network}/dialects/{dialect}/preview", use: preview)
    }

    /// All dialects, each with the network's document where there is one.
    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let documents = try await services.accounts.dialects(of: access.networkID)
        let items = Dialects.all.map(\.name).map { name -> JSONValue in
            let document = documents.first { $0.name == name }
            return ["dialect": .string(name.rawValue), "document": document?.json ?? .null]
        }
        return .json(["items": .array(items)])
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, dialect) = try await adminAndDialect(request, context)
        return .json(try await services.accounts.dialect(dialect.name, of: access.networkID).found().json)
    }

    private func replace(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, dialect) = try await adminAndDialect(request, context)
        let draft = try DialectDraft(try await RequestBodyReader.json(of: request), for: dialect)
        let now = services.clock.now()
        let document = try await services.accounts.updateDialect(dialect.name, of: access.networkID) { former in
            try draft.document(dialect.name, after: former, at: now)
        }
        services.cache.invalidate(access.networkID)
        guard let document else { throw Problem.notFound() }
        return .json(document.json)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, dialect) = try await adminAndDialect(request, context)
        let existed = try await services.accounts.deleteDialect(dialect.name, of: access.networkID)
        services.cache.invalidate(access.networkID)
        guard existed else { throw Problem.notFound() }
        return .noContent
    }

    private func recent(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, dialect) = try await adminAndDialect(request, context)
        return .json(["items": try await journal.json(of: .dialect(dialect.name), in: access.networkID)])
    }

    /// Says what a body would become; nothing of it is stored, and no signature is asked for.
    private func preview(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, dialect) = try await adminAndDialect(request, context)
        let settings = try await services.accounts.dialect(dialect.name, of: access.networkID)?.settings ?? JSONObject()
        let posted = try await DialectRequestReader.request(request, for: dialect)
        let reading = try DialectRequestReader.read(posted, by: dialect, settings, now: services.clock.now())
        let events = reading.events.compactMap { event in
            if case .known(_, let canonical) = event.content { canonical } else { nil }
        }
        var answer: JSONObject = [
            "status": .string(events.isEmpty ? "ignored" : "accepted"), "events": .array(events),
        ]
        answer["reason"] = reading.reason.map(JSONValue.string)
        return .json(.object(answer))
    }

    private func adminAndDialect(
        _ request: Request,
        _ context: CarillonRequestContext
    ) async throws -> (Access, any EventDialect) {
        (try await admin(request, context), try DialectRequestReader.dialect(context))
    }
}
