/// A template in which nothing is left out, so that filling it cannot fail.
struct CompleteTemplate: Sendable {
    /// The language that it is in.
    let locale: LocaleTag
    private let title: CompleteWording
    private let body: CompleteWording

    /// A template that has a title and a body for each variant; `nil` when it lacks one.
    init?(_ template: CompiledTemplate) {
        let type = template.eventType
        guard let title = CompleteWording(template.title, for: type.titleVariants),
            let body = CompleteWording(template.body, for: type.templateVariants)
        else { return nil }
        locale = template.locale
        self.title = title
        self.body = body
    }

    /// A template whose missing variants are another's, in that one's language.
    init(_ template: CompiledTemplate, completedBy other: CompleteTemplate) {
        locale = template.locale
        title = CompleteWording(template.title, completedBy: other.title)
        body = CompleteWording(template.body, completedBy: other.body)
    }

    /// The notification that tells `subject`, which must be of the template's event type.
    func notification(of subject: NotificationSubject) -> Notification {
        Notification(
            locale: locale.rawValue,
            title: title.text(for: subject.titleVariant).filled(with: subject, as: .title),
            body: body.text(for: subject.variant).filled(with: subject, as: .body)
        )
    }
}

/// A title or a body that has a text for every variant.
private struct CompleteWording: Sendable {
    /// The text of those variants that have none of their own.
    private let common: TemplateText
    private let variants: [TemplateVariant: TemplateText]

    /// What has a text for each of these variants; `nil` when it lacks one.
    init?(_ wording: CompiledWording, for needed: [TemplateVariant]) {
        guard let common = wording.common ?? needed.last.flatMap({ wording.variants[$0] }) else { return nil }
        guard wording.common != nil || needed.allSatisfy({ wording.variants[$0] != nil }) else { return nil }
        self.common = common
        variants = wording.variants
    }

    init(_ wording: CompiledWording, completedBy other: CompleteWording) {
        if let common = wording.common {
            self.common = common
            variants = wording.variants
        } else {
            common = other.common
            variants = other.variants.merging(wording.variants) { _, own in own }
        }
    }

    func text(for variant: TemplateVariant?) -> TemplateText { variant.flatMap { variants[$0] } ?? common }
}
