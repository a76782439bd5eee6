import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// A network's sources: backends that are asked for events (FACES section H5). For admins.
struct SourceController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/sources", use: list)
        router.get("/v1/networks/{network}/sources/{source}", use: show)
        router.put("/v1/networks/{network}/sources/{source}", use: put)
        router.delete("/v1/networks/{network}/sources/{source}", use: delete)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let page = try Page(QueryParameters(request))
        let all = try await services.sources.sources(of: access.networkID)
        return page.answer(all, by: \.id.rawValue) { .object($0.json) }
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "source", as: Source.self)
        let source = try await services.sources.sources(of: access.networkID).first(where: { $0.id == id }).found()
        return .json(.object(source.json))
    }

    /// Makes a source, whose secret is shown once, or changes one, which is asked at once then.
    private func put(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "source", as: Source.self)
        let settings = try SourceSettings(await RequestBodyReader.json(of: request), egress: services.egress)
        let secret = WebhookSecret.generate()
        let (source, isNew) = try await services.sources.putSource(id, settings, secret: secret, of: access.networkID)
        var json = source.json
        if isNew { json["secret"] = .string(secret.text.reveal { $0 }) }
        return .json(.object(json), status: isNew ? .created : .ok)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "source", as: Source.self)
        guard try await services.sources.deleteSource(id, of: access.networkID) else { throw Problem.notFound() }
        return .noContent
    }
}

extension SourceSettings {
    /// Reads `{"url","intervalSeconds","enabled"}`.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - egress: Where sources may be reached. Where a name leads is checked when it is used: names change.
    /// - Throws: What is wrong with it.
    fileprivate init(_ body: JSONValue, egress: EgressGuard) throws(InvalidInput) {
        self = try body.read(as: "invalid-source") { reader in
            let url = reader.serverURL(maximumBytes: Self.maximumURLBytes, by: egress)
            let interval = reader.integer("intervalSeconds", required: true, in: Self.intervals)
            let isEnabled = reader.bool("enabled") ?? true
            guard let url, let interval else { return nil }
            return SourceSettings(url: url, interval: interval, isEnabled: isEnabled)
        }
    }
}

extension Source {
    fileprivate var json: JSONObject {
        [
            "id": .string(id.rawValue), "url": .string(settings.url), "intervalSeconds": JSONValue(settings.interval),
            "enabled": .bool(settings.isEnabled), "createdAt": JSONValue(createdAt),
            "lastPollAt": JSONValue(lastPollAt),
            "failures": JSONValue(failures), "skippedItems": JSONValue(skippedItems), "lastError": JSONValue(lastError),
        ]
    }
}
