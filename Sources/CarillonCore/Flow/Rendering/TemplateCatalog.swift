/// The built-in templates of all languages.
package struct TemplateCatalog: Sendable {
    private let sources: [EventType: [LocaleTag: CompiledTemplate]]
    private let templates: [EventType: [LocaleTag: CompleteTemplate]]
    private let english: EnglishTemplates

    /// Builds the catalogue; a variant that a language lacks is taken from the next one of its fallback.
    ///
    /// - Parameter templates: The templates, at most one for each event type and locale; of two the later counts.
    /// - Throws: `invalid-template` when English lacks an event type or a variant: it is everybody's last resort.
    package init(_ templates: some Sequence<CompiledTemplate>) throws(InvalidInput) {
        var sources: [EventType: [LocaleTag: CompiledTemplate]] = [:]
        for template in templates { sources[template.eventType, default: [:]][template.locale] = template }
        let english = try EnglishTemplates(sources)
        self.templates = [
            .channelCreated: Self.complete(sources[.channelCreated] ?? [:], by: english.channelCreated),
            .channelInvited: Self.complete(sources[.channelInvited] ?? [:], by: english.channelInvited),
            .memberJoined: Self.complete(sources[.memberJoined] ?? [:], by: english.memberJoined),
            .messageSent: Self.complete(sources[.messageSent] ?? [:], by: english.messageSent),
        ]
        self.sources = sources
        self.english = english
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

    /// What a subject is told in to those who prefer nothing that there is.
    func lastResort(for subject: NotificationSubject) -> Wording {
        switch subject {
        case .channelCreated: .template(english.channelCreated)
        case .channelInvited: .template(english.channelInvited)
        case .memberJoined: .template(english.memberJoined)
        case .messageSent: .template(english.messageSent)
        case .direct(let texts): .texts(texts.lastResort, nil)
        }
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

/// What everybody falls back to.
private struct EnglishTemplates {
    let channelCreated: CompleteTemplate
    let channelInvited: CompleteTemplate
    let memberJoined: CompleteTemplate
    let messageSent: CompleteTemplate

    init(_ templates: [EventType: [LocaleTag: CompiledTemplate]]) throws(InvalidInput) {
        channelCreated = try Self.template(.channelCreated, in: templates)
        channelInvited = try Self.template(.channelInvited, in: templates)
        memberJoined = try Self.template(.memberJoined, in: templates)
        messageSent = try Self.template(.messageSent, in: templates)
    }

    private static func template(
        _ eventType: EventType,
        in templates: [EventType: [LocaleTag: CompiledTemplate]]
    ) throws(InvalidInput) -> CompleteTemplate {
        guard let template = templates[eventType]?[.english].flatMap(CompleteTemplate.init) else {
            throw InvalidInput(
                problem: "invalid-template",
                pointer: "/en/\(eventType.rawValue)",
                detail: "the English template of \(eventType.rawValue) is missing or lacks a variant"
            )
        }
        return template
    }
}
