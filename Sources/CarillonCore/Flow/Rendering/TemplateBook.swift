import Synchronization

/// Networks' own templates, remembered ready for use for those who ask with every request.
///
/// Who writes through it reads what was written; other replicas are told, and know it after ``lifetime`` in any case.
package final class TemplateBook: TemplateStore {
    /// How old what is known may be.
    package static let lifetime = Duration.seconds(2)
    private static let capacity = 1_000

    private struct State {
        var known: [NetworkID: (overrides: TemplateOverrides, readAt: ContinuousClock.Instant)] = [:]
        /// How often something was forgotten: what was read before that is not kept.
        var changes = 0
    }

    private let store: any TemplateStore
    private let announcements: Announcements
    private let now: @Sendable () -> ContinuousClock.Instant
    private let compiled = OverrideCache<TemplateOverride> { template in
        LocaleTag(template.locale).flatMap { locale in
            try? CompiledTemplate(template.source, for: template.eventType, locale: locale)
        }
    }
    private let state = Mutex(State())

    /// A book of what is in `store`.
    package init(
        _ store: any TemplateStore,
        announcements: Announcements = Announcements(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.store = store
        self.announcements = announcements
        self.now = now
        announcements.subscribe(to: .templates) { [weak self] network in self?.forget(network) }
    }

    /// A network's templates, ready for use.
    ///
    /// - Throws: What the store throws, when it has to be asked.
    package func overrides(of network: NetworkID) async throws -> TemplateOverrides {
        let startedAt = now()
        let (known, changes) = state.withLock { ($0.known[network], $0.changes) }
        if let known, startedAt - known.readAt < Self.lifetime { return known.overrides }
        let overrides = compiled.overrides(of: network, try await store.templates(in: network))
        state.withLock { state in
            guard state.changes == changes else { return }
            if state.known.count >= Self.capacity { state.known.removeAll() }
            state.known[network] = (overrides, startedAt)
        }
        return overrides
    }

    /// All of a network's templates, by event type and locale, as they are stored.
    package func templates(in network: NetworkID) async throws -> [TemplateOverride] {
        try await store.templates(in: network)
    }

    /// Writes a checked template; `true` when there was none.
    package func putTemplate(_ template: TemplateOverride, in network: NetworkID) async throws -> Bool {
        defer { changed(in: network) }
        return try await store.putTemplate(template, in: network)
    }

    /// Removes a template; `false` when there was none.
    package func deleteTemplate(_ type: EventType, locale: String, in network: NetworkID) async throws -> Bool {
        defer { changed(in: network) }
        return try await store.deleteTemplate(type, locale: locale, in: network)
    }

    /// Also after a failure: it may be stored.
    private func changed(in network: NetworkID) {
        forget(network)
        announcements.announce(.templates, in: network)
    }

    private func forget(_ network: NetworkID?) {
        state.withLock { state in
            state.changes += 1
            if let network { state.known[network] = nil } else { state.known = [:] }
        }
    }
}
