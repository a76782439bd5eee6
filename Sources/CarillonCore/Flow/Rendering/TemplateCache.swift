/// Networks' own templates, remembered ready for use for those who ask with every request.
///
/// Who writes through it reads what was written; other replicas are told, and know it after ``lifetime`` in any case.
package final class TemplateCache: TemplateStore {
    /// How old what is known may be.
    package static let lifetime = Duration.seconds(2)
    private static let capacity = 1_000

    private let store: any TemplateStore
    private let announcements: Announcements
    private let compiled = OverrideCache<NetworkID, TemplateOverride> { template in
        LocaleTag(template.locale).flatMap { locale in
            try? CompiledTemplate(template.source, for: template.eventType, locale: locale)
        }
    }
    private let known: Remembered<NetworkID, TemplateOverrides>

    package init(
        _ store: any TemplateStore,
        announcements: Announcements = Announcements(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.store = store
        self.announcements = announcements
        known = Remembered(capacity: Self.capacity, now: now) { _, readAt in readAt + Self.lifetime }
        announcements.subscribe(to: .templates) { [known] network in known.forget(network) }
    }

    /// A network's templates, ready for use.
    ///
    /// - Throws: What the store throws, when it has to be asked.
    package func overrides(of network: NetworkID) async throws -> TemplateOverrides {
        try await known.value(of: network) { [store, compiled] in
            compiled.overrides(of: network, try await store.templates(in: network))
        }
    }

    /// All of a network's templates, by event type and locale, as they are stored.
    package func templates(in network: NetworkID) async throws -> [TemplateOverride] {
        try await store.templates(in: network)
    }

    package func putTemplate(_ template: TemplateOverride, in network: NetworkID) async throws -> Bool {
        defer { changed(in: network) }
        return try await store.putTemplate(template, in: network)
    }

    package func deleteTemplate(_ type: EventType, locale: String, in network: NetworkID) async throws -> Bool {
        defer { changed(in: network) }
        return try await store.deleteTemplate(type, locale: locale, in: network)
    }

    /// Also after a failure: it may be stored.
    private func changed(in network: NetworkID) {
        known.forget(network)
        announcements.announce(.templates, in: network)
    }
}
