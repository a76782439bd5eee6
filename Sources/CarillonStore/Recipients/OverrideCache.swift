import CarillonCore
import Synchronization

/// A template as it is stored.
struct StoredTemplate: Sendable, Hashable {
    var eventType: String
    var locale: String
    var source: String
}

/// Networks' templates, compiled once for each content: reading them is cheap, compiling them is not.
final class OverrideCache: Sendable {
    private static let maximumNetworks = 1000

    private let compiled = Mutex<[NetworkID: (templates: [StoredTemplate], overrides: TemplateOverrides)]>([:])

    func overrides(of network: NetworkID, _ templates: [StoredTemplate]) -> TemplateOverrides {
        guard !templates.isEmpty else { return TemplateOverrides() }
        let known = compiled.withLock { $0[network] }
        if let known, known.templates == templates { return known.overrides }
        let overrides = TemplateOverrides(templates.compactMap(CompiledTemplate.init(stored:)))
        compiled.withLock { compiled in
            if compiled.count >= Self.maximumNetworks { compiled.removeAll() }
            compiled[network] = (templates, overrides)
        }
        return overrides
    }
}

extension CompiledTemplate {
    /// A stored template; `nil` when it no longer compiles: the built-in one is used then.
    fileprivate init?(stored: StoredTemplate) {
        guard let type = EventType(known: stored.eventType), let locale = LocaleTag(stored.locale),
            let source = try? TemplateSource(stored: stored.source),
            let compiled = try? CompiledTemplate(source, for: type, locale: locale)
        else { return nil }
        self = compiled
    }
}
