/// A network's own template for an event type in a locale.
package struct TemplateOverride: Sendable, Equatable {
    package var eventType: EventType
    /// The language, spelled as ``LocaleTag`` spells it.
    package var locale: String
    /// The texts as the admin wrote them.
    package var source: TemplateSource
    package var updatedAt: Timestamp

    package init(eventType: EventType, locale: String, source: TemplateSource, updatedAt: Timestamp) {
        self.eventType = eventType
        self.locale = locale
        self.source = source
        self.updatedAt = updatedAt
    }
}

/// The templates that networks wrote over the built-in ones (API section 7).
package protocol TemplateStore: Sendable {
    /// All of a network's templates, by event type and locale.
    func templates(in network: NetworkID) async throws -> [TemplateOverride]
    /// Writes a checked template; `true` when there was none.
    /// - Throws: ``LimitReached`` when there was none, and the network has as many as it may have.
    func putTemplate(_ template: TemplateOverride, in network: NetworkID) async throws -> Bool
    /// Removes a template; `false` when there was none.
    func deleteTemplate(_ type: EventType, locale: String, in network: NetworkID) async throws -> Bool
}
