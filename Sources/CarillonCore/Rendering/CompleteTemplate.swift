/// A template in which nothing is left out, so that filling it cannot fail.
struct CompleteTemplate: Sendable {
    /// The language that it is in.
    let locale: LocaleTag
    private let title: TemplateText
    /// The body of those variants that have none of their own.
    private let body: TemplateText
    private let variants: [TemplateVariant: TemplateText]

    /// A template that has a body for each variant; `nil` when it lacks one.
    init?(_ template: CompiledTemplate) {
        let needed = template.eventType.templateVariants
        guard let body = template.body ?? needed.last.flatMap({ template.variants[$0] }) else { return nil }
        guard template.body != nil || needed.allSatisfy({ template.variants[$0] != nil }) else { return nil }
        locale = template.locale
        title = template.title
        self.body = body
        variants = template.variants
    }

    /// A template whose missing variants are another's, in that one's language.
    init(_ template: CompiledTemplate, completedBy other: CompleteTemplate) {
        locale = template.locale
        title = template.title
        if let body = template.body {
            self.body = body
            variants = template.variants
        } else {
            body = other.body
            variants = other.variants.merging(template.variants) { _, own in own }
        }
    }

    /// The notification that tells `subject`, which must be of the template's event type.
    func notification(of subject: NotificationSubject) -> Notification {
        let text = subject.variant.flatMap { variants[$0] } ?? body
        return Notification(
            locale: locale.rawValue,
            title: title.filled(with: subject, as: .title),
            body: text.filled(with: subject, as: .body)
        )
    }
}
