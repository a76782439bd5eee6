package import CarillonCore

extension MemoryStore: TemplateStore {
    /// All of a network's templates, by event type and locale.
    package func templates(in network: NetworkID) async throws -> [TemplateOverride] {
        try withNetwork(network) { network in
            network.templates.values.sorted {
                ($0.eventType.rawValue, $0.locale) < ($1.eventType.rawValue, $1.locale)
            }
        }
    }

    /// Writes a checked template; `true` when there was none.
    package func putTemplate(_ template: TemplateOverride, in network: NetworkID) async throws -> Bool {
        try withNetwork(network) { network in
            let key = MemoryTemplateKey(eventType: template.eventType, locale: template.locale)
            let limit = network.network.limits[.templates]
            guard network.templates[key] != nil || network.templates.count < limit else {
                throw LimitReached(.templates, limit)
            }
            return network.templates.updateValue(template, forKey: key) == nil
        }
    }

    /// Removes a template; `false` when there was none.
    package func deleteTemplate(_ type: EventType, locale: String, in network: NetworkID) async throws -> Bool {
        try withNetwork(network) { network in
            network.templates.removeValue(forKey: MemoryTemplateKey(eventType: type, locale: locale)) != nil
        }
    }
}
