import CarillonCore
import CarillonEdge
import Hummingbird

/// A network's sources: backends that are asked for events (FACES section H5). For admins.
struct SourceController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/sources") { request in
            let page = try request.page()
            let all = try await services.sources.sources(of: request.network)
            return page.answer(all, by: \.id.rawValue) { .object($0.json) }
        }
        admins.show("/sources/{source}") { request in
            let id = try request.id("source", as: Source.self)
            let source = try await services.sources.sources(of: request.network).first { $0.id == id }
            return source.map { .object($0.json) }
        }
        admins.store("/sources/{source}", put)
        admins.remove("/sources/{source}") { request in
            try await services.sources.deleteSource(request.id("source"), of: request.network)
        }
    }

    /// Makes a source, whose secret is shown once, or changes one, which is asked at once then.
    private func put(_ request: NetworkRequest) async throws -> (stored: JSONValue, isNew: Bool) {
        let id = try request.id("source", as: Source.self)
        let settings = try SourceSettings(await request.json(), egress: services.egress)
        let secret = WebhookSecret.generate()
        let (source, isNew) = try await services.sources.putSource(id, settings, secret: secret, of: request.network)
        var json = source.json
        if isNew { json["secret"] = .string(secret.text.reveal { $0 }) }
        return (.object(json), isNew)
    }
}

extension SourceSettings {
    /// Reads `{"url","intervalSeconds","enabled"}`. Where a name leads is checked when it is used: names change.
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
