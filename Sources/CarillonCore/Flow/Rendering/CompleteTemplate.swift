/// A template in which nothing is left out, so that filling it cannot fail.
struct CompleteTemplate: Sendable {
    let locale: LocaleTag
    private let title: CompleteWording
    private let body: CompleteWording

    /// A template that has a title and a body for each variant; `nil` when it lacks one.
    init?(_ template: CompiledTemplate) {
        let type = template.eventType
        let bodyVariants = type.kind.variants.filter { !TemplateVariant.special.contains($0) }
        guard let title = CompleteWording(template.title, for: type.titleVariants),
            let body = CompleteWording(template.body, for: bodyVariants)
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
            title: title.text(for: subject.titleVariant, of: subject).filled(with: subject, as: .title),
            body: body.text(for: subject.variant, of: subject).filled(with: subject, as: .body)
        )
    }
}

/// A title or a body that has a text for every variant.
private struct CompleteWording: Sendable {
    private struct Texts {
        /// The text of those variants that have none of their own.
        var common: TemplateText?
        var variants: [TemplateVariant: TemplateText]

        /// The text of a variant; `nil` when there is none.
        subscript(variant: TemplateVariant?) -> TemplateText? {
            guard let variant else { return common }
            if let text = variants[variant] { return text }
            return (TemplateVariant.special.contains(variant) ? variants[.other] : nil) ?? common
        }

        /// These texts, with another's for what they leave out.
        func completed(by other: Self) -> Self {
            guard common == nil else { return self }
            // Who says what all other messages are says it of the special ones, too.
            let inherited =
                variants[.other] == nil
                ? other.variants : other.variants.filter { !TemplateVariant.special.contains($0.key) }
            return Texts(common: other.common, variants: inherited.merging(variants) { _, own in own })
        }
    }

    private let common: TemplateText
    private let texts: Texts
    /// The texts that do not name the channel, for channels without a name.
    private let unnamed: Texts

    /// What has a text for each of these variants; `nil` when it lacks one.
    init?(_ wording: CompiledWording, for needed: [TemplateVariant]) {
        guard let common = wording.common ?? needed.last.flatMap({ wording.variants[$0] }) else { return nil }
        guard wording.common != nil || needed.allSatisfy({ wording.variants[$0] != nil }) else { return nil }
        self.common = common
        texts = Texts(common: wording.common, variants: wording.variants)
        unnamed = Self.unnamed(wording)
    }

    init(_ wording: CompiledWording, completedBy other: CompleteWording) {
        common = wording.common ?? other.common
        texts = Texts(common: wording.common, variants: wording.variants).completed(by: other.texts)
        unnamed = Self.unnamed(wording).completed(by: other.unnamed)
    }

    func text(for variant: TemplateVariant?, of subject: NotificationSubject) -> TemplateText {
        let text = texts[variant] ?? common
        return subject.channel != nil || !text.namesChannel ? text : unnamed[variant] ?? text
    }

    private static func unnamed(_ wording: CompiledWording) -> Texts {
        Texts(
            common: wording.common.flatMap { $0.namesChannel ? nil : $0 },
            variants: wording.variants.filter { !$0.value.namesChannel }
        )
    }
}

/// One checked text of a template, ready to be filled.
struct TemplateText: Sendable, Equatable {
    /// What it is made of, in order.
    let segments: [TemplateSegment]
    /// How its language is written: names that run the other way are isolated.
    let direction: TextDirection

    var namesChannel: Bool { segments.contains(.argument(.channel)) }

    /// The text with its placeholders replaced, on one line for titles, and cut to its limits.
    ///
    /// Arguments are inserted once and literally, so nothing in them is read as a placeholder.
    func filled(with subject: NotificationSubject, as part: TemplatePart) -> String {
        var result = ""
        for segment in segments {
            // What lies beyond the limit is cut off below: a long message is not copied for nothing.
            guard result.utf8.count <= part.maximumBytes else { break }
            switch segment {
            case .text(let text): result.append(text)
            case .argument(let argument): append(subject.value(of: argument), to: &result, as: part)
            }
        }
        return result.shortened(toCharacters: part.maximumCharacters, bytes: part.maximumBytes)
    }

    private func append(_ value: NotificationSubject.Value, to result: inout String, as part: TemplatePart) {
        switch value {
        case .words(let words):
            result.append(words.withoutControls(onOneLine: part == .title, maximumBytes: part.maximumBytes))
        case .count(let count):
            result.append(String(count))
        case .name(let name):
            let name = name.withoutControls(onOneLine: part == .title, maximumBytes: part.maximumBytes)
            if let own = TextDirection(firstStrongIn: name), own != direction {
                result.append("\u{2068}")
                result.append(name)
                result.append("\u{2069}")
            } else {
                result.append(name)
            }
        }
    }
}

enum TemplateSegment: Sendable, Equatable {
    case text(String)
    case argument(TemplateArgument)
}

extension TemplatePart {
    /// The most characters (grapheme clusters) that are shown, the ellipsis included.
    var maximumCharacters: Int {
        switch self {
        case .title: 200
        case .body: 2_000
        }
    }

    /// The most bytes of UTF-8: a character may have any number of combining marks, a notification may not.
    ///
    /// 64 for each character, more than the longest emoji of Unicode has.
    var maximumBytes: Int { 64 * maximumCharacters }

    /// A text as it may be shown: without what deceives, on one line for titles, and cut to its limits.
    func cleaned(_ text: String) -> String {
        text.withoutControls(onOneLine: self == .title, maximumBytes: maximumBytes)
            .shortened(toCharacters: maximumCharacters, bytes: maximumBytes)
    }

    /// Whether anything that can be seen is left of a text once it is cleaned: neither white space nor what is drawn as nothing, such as
    /// U+200B (Unicode's `Default_Ignorable_Code_Point`).
    func shows(_ text: String) -> Bool {
        cleaned(text).unicodeScalars.contains {
            !$0.properties.isWhitespace && !$0.properties.isDefaultIgnorableCodePoint
        }
    }
}
