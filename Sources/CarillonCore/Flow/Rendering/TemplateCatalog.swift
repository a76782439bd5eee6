/// The built-in templates of all languages.
package struct TemplateCatalog: Sendable {
    private let sources: [EventType: [LocaleTag: CompiledTemplate]]
    private let templates: [EventType: [LocaleTag: CompleteTemplate]]

    /// Builds the catalogue; a variant that a language lacks is taken from the next one of its fallback.
    ///
    /// - Parameter templates: The templates, at most one for each event type and locale; of two the later counts.
    /// - Throws: `invalid-template` when English lacks an event type or a variant: it is everybody's last resort.
    package init(_ templates: some Sequence<CompiledTemplate>) throws(InvalidInput) {
        var sources: [EventType: [LocaleTag: CompiledTemplate]] = [:]
        for template in templates { sources[template.eventType, default: [:]][template.locale] = template }
        var complete: [EventType: [LocaleTag: CompleteTemplate]] = [:]
        for type in EventType.withTemplates + sources.keys where complete[type] == nil {
            let templates = sources[type] ?? [:]
            guard let english = templates[.english].flatMap(CompleteTemplate.init) else {
                throw InvalidInput(
                    problem: "invalid-template",
                    pointer: "/en/\(type.rawValue)",
                    detail: "the English template of \(type.rawValue) is missing or lacks a variant"
                )
            }
            complete[type] = Self.complete(templates, by: english)
        }
        self.sources = sources
        self.templates = complete
    }

    /// The languages that have a template of this type, in alphabetical order.
    package func locales(for eventType: EventType) -> [LocaleTag] {
        (templates[eventType]?.keys).map { $0.sorted() } ?? []
    }

    /// The built-in template of exactly this event type and locale.
    package subscript(eventType: EventType, locale: LocaleTag) -> CompiledTemplate? {
        sources[eventType]?[locale]
    }

    /// Renders for one recipient; ``NotificationRenderer`` does it for many.
    ///
    /// - Parameters:
    ///   - subject: What to tell.
    ///   - locales: The languages to try, in order: the device's, then the user's.
    ///   - networkDefault: The network's own language.
    ///   - overrides: The network's own templates.
    /// - Returns: The notification, with the locale of the template that was used.
    package func render(
        _ subject: NotificationSubject,
        locales: [String],
        networkDefault: String? = nil,
        overrides: TemplateOverrides = .init()
    ) -> Notification {
        var renderer = NotificationRenderer(
            subject,
            catalog: self,
            networkDefault: networkDefault,
            overrides: overrides
        )
        return renderer.notification(for: renderer.template(for: locales))
    }

    func template(_ eventType: EventType, _ locale: LocaleTag) -> CompleteTemplate? {
        templates[eventType]?[locale]
    }

    /// Fills the gaps of each template from its more general languages, so that `pt-BR` borrows from `pt` before English.
    private static func complete(
        _ templates: [LocaleTag: CompiledTemplate],
        by english: CompleteTemplate
    ) -> [LocaleTag: CompleteTemplate] {
        templates.mapValues { template in
            template.locale.fallbackChain.reversed().reduce(english) { fallback, locale in
                templates[locale].map { CompleteTemplate($0, completedBy: fallback) } ?? fallback
            }
        }
    }
}
