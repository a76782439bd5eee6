/// The words for one language: a template's, or those that a sender wrote.
enum Wording: Sendable {
    case template(CompleteTemplate)
    /// Texts that are shown as they are; of no language where they are for whoever prefers none.
    case texts(DirectTexts.Text, LocaleTag?)

    /// The language, by which it is found again.
    var locale: LocaleTag? {
        switch self {
        case .template(let template): template.locale
        case .texts(_, let locale): locale
        }
    }

    /// What is shown; `usual` is the language of those who have not said theirs.
    func notification(of subject: NotificationSubject, usual: LocaleTag) -> Notification {
        switch self {
        case .template(let template):
            template.notification(of: subject)
        case .texts(let text, let locale):
            Notification(
                locale: (locale ?? usual).rawValue,
                title: text.title.map { TemplatePart.title.cleaned($0) } ?? "",
                body: text.body.map { TemplatePart.body.cleaned($0) } ?? ""
            )
        }
    }
}

extension DirectTexts {
    /// The text of exactly this language, with what it leaves out from where the fallback leads; `nil` when there is none.
    func complete(_ locale: LocaleTag, _ defaultChain: [LocaleTag]) -> Text? {
        guard let own = byLocale[locale] else { return nil }
        let others = (locale.fallbackChain + defaultChain).lazy.compactMap { byLocale[$0] }
        return Text(
            title: own.title ?? others.compactMap(\.title).first ?? text.title,
            body: own.body ?? others.compactMap(\.body).first ?? text.body
        )
    }

    /// The text for whoever prefers none of the languages. Where there is none, any is better than nothing: the first by
    /// its tag.
    var lastResort: Text {
        guard text.isEmpty, let first = byLocale.keys.min() else { return text }
        return complete(first, []) ?? text
    }
}

extension TemplatePart {
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
