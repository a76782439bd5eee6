/// The templates that one network has put in place of the built-in ones.
package struct TemplateOverrides: Sendable {
    private var templates: [EventType: [LocaleTag: CompiledTemplate]] = [:]

    package init() {}

    /// Overrides by event type and locale; of two for the same place the later counts.
    package init(_ templates: some Sequence<CompiledTemplate>) {
        for template in templates { insert(template) }
    }

    /// Puts a template in place of the built-in one of its event type and locale.
    package mutating func insert(_ template: CompiledTemplate) {
        templates[template.eventType, default: [:]][template.locale] = template
    }

    /// The override for exactly this event type and locale.
    package subscript(eventType: EventType, locale: LocaleTag) -> CompiledTemplate? {
        templates[eventType]?[locale]
    }
}
