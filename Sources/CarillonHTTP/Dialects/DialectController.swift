import CarillonCore
import CarillonDialects
import CarillonEdge
import Hummingbird

/// What a network says of other backends' webhooks, and what became of them (DIALECTS sections 1 and 18). For admins.
struct DialectController: Controller {
    let services: Services
    let journal: PostJournal

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        let path = "/dialects/{dialect}"
        admins.pages("/dialects", use: list)
        admins.show(path) { request in
            try await services.accounts.dialect(Self.dialect(of: request).name, of: request.network)?.json
        }
        admins.put(path, use: replace)
        admins.remove(path) { request in
            let name = try Self.dialect(of: request).name
            let existed = try await services.accounts.deleteDialect(name, of: request.network)
            services.cache.invalidate(request.network)
            return existed
        }
        admins.pages("\(path)/recent") { request in
            let name = try Self.dialect(of: request).name
            return .json(["items": try await journal.json(of: .dialect(name), in: request.network)])
        }
        admins.post("\(path)/preview", use: preview)
    }

    /// All dialects, each with the network's document where there is one.
    private func list(_ request: NetworkRequest) async throws -> Response {
        let documents = try await services.accounts.dialects(of: request.network)
        let items = Dialects.all.map(\.name).map { name -> JSONValue in
            let document = documents.first { $0.name == name }
            return ["dialect": .string(name.rawValue), "document": document?.json ?? .null]
        }
        return .json(["items": .array(items)])
    }

    private func replace(_ request: NetworkRequest) async throws -> Response {
        let dialect = try Self.dialect(of: request)
        let draft = try DialectDraft(try await request.json(), for: dialect)
        let now = services.clock.now()
        let document = try await services.accounts.updateDialect(dialect.name, of: request.network) { former in
            try draft.document(dialect.name, after: former, at: now)
        }
        services.cache.invalidate(request.network)
        return .json(try document.found().json)
    }

    /// Says what a body would become; nothing of it is stored, and no signature is asked for.
    private func preview(_ request: NetworkRequest) async throws -> Response {
        let dialect = try Self.dialect(of: request)
        let document = try await services.accounts.dialect(dialect.name, of: request.network)
        let posted = try await DialectRequestReader.request(request.http, for: dialect)
        let reading = try DialectRequestReader.read(posted, by: dialect, document, now: services.clock.now())
        let events = reading.events.compactMap { event in
            if case .known(_, let canonical) = event.content { canonical } else { nil }
        }
        return .json([
            "status": .string(events.isEmpty ? "ignored" : "accepted"), "events": .array(events),
            "reason": reading.reason.map(JSONValue.string),
        ])
    }

    /// The dialect of the path.
    private static func dialect(of request: NetworkRequest) throws(Problem) -> any EventDialect {
        try Dialects.named(DialectName(rawValue: request.context.segment("dialect")).found())
    }
}
