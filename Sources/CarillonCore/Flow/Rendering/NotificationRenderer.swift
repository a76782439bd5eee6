/// Renders one subject for all of its recipients: once for each template, however many of them there are.
///
/// For each locale that a recipient prefers, the device's before the user's, the fallback goes `th-TH`, `th`; after all
/// of them it goes through the network's default in the same way, and ends at `en`. At each step the network's own
/// template for exactly that locale goes before the built-in one. Locales that are not BCP 47 tags are passed over.
///
/// A variant that an override leaves out comes from the built-in template of its locale, of the more general ones, of the
/// network's default, or of English, whichever is the first to exist.
///
/// The texts of a direct notification are chosen in the same way, before the text that it has for everybody.
package struct NotificationRenderer: Sendable {
    package let subject: NotificationSubject

    private let catalog: TemplateCatalog
    private let overrides: TemplateOverrides
    private let defaultChain: [LocaleTag]
    private var chosen: [Choice] = []
    private var known: [String: TemplateKey?] = [:]
    private var defaultKey: TemplateKey?

    // Devices may say anything; beyond this many different spellings the answer is found anew each time.
    private static let maximumKnownLocales = 512

    private struct Choice {
        let wording: Wording
        var notification: Notification?
    }

    /// A renderer of `subject` for the recipients of one network.
    ///
    /// - Parameters:
    ///   - subject: What to tell.
    ///   - catalog: The built-in templates.
    ///   - networkDefault: The language of those who have not said theirs.
    ///   - overrides: The network's own templates.
    package init(
        _ subject: NotificationSubject,
        catalog: TemplateCatalog,
        networkDefault: String? = nil,
        overrides: TemplateOverrides = .init()
    ) {
        self.subject = subject
        self.catalog = catalog
        self.overrides = overrides
        defaultChain = (networkDefault.flatMap { LocaleTag($0) }?.fallbackChain ?? []) + [.english]
    }

    /// Which template a recipient gets; takes tens of nanoseconds for locales that were seen before.
    ///
    /// - Parameters:
    ///   - deviceLocale: The device's language, tried first.
    ///   - userLocale: The user's language.
    /// - Returns: The key of the template; recipients with equal keys get equal notifications.
    package mutating func template(deviceLocale: String?, userLocale: String?) -> TemplateKey {
        if let deviceLocale, let key = key(for: deviceLocale) { return key }
        if let userLocale, let key = key(for: userLocale) { return key }
        return keyOfDefault()
    }

    /// Which template somebody gets who prefers these locales, the first most of all.
    package mutating func template(for locales: [String]) -> TemplateKey {
        for locale in locales {
            if let key = key(for: locale) { return key }
        }
        return keyOfDefault()
    }

    /// The notification by a template that this renderer chose.
    package mutating func notification(for key: TemplateKey) -> Notification {
        let usual = defaultChain.first ?? .english
        guard chosen.indices.contains(key.index) else { return lastResort.notification(of: subject, usual: usual) }
        if let notification = chosen[key.index].notification { return notification }
        let notification = chosen[key.index].wording.notification(of: subject, usual: usual)
        chosen[key.index].notification = notification
        return notification
    }

    /// The template of those who prefer nothing that there is.
    private mutating func keyOfDefault() -> TemplateKey {
        if let defaultKey { return defaultKey }
        let key = firstKey(in: defaultChain) ?? add(lastResort)
        defaultKey = key
        return key
    }

    /// The template that one locale leads to by itself; `nil` when there is none.
    private mutating func key(for locale: String) -> TemplateKey? {
        if let key = known[locale] { return key }
        let key = LocaleTag(locale).flatMap { firstKey(in: $0.fallbackChain) }
        if known.count < Self.maximumKnownLocales { known.updateValue(key, forKey: locale) }
        return key
    }

    private mutating func firstKey(in chain: [LocaleTag]) -> TemplateKey? {
        for locale in chain {
            let index = chosen.firstIndex { $0.wording.locale == locale }
            if let index { return TemplateKey(index: index) }
            if let wording = wording(locale) { return add(wording) }
        }
        return nil
    }

    private mutating func add(_ wording: Wording) -> TemplateKey {
        chosen.append(Choice(wording: wording))
        return TemplateKey(index: chosen.count - 1)
    }

    /// The words of exactly this locale.
    private func wording(_ locale: LocaleTag) -> Wording? {
        if let texts = subject.texts { return texts.complete(locale, defaultChain).map { .texts($0, locale) } }
        guard let override = overrides[subject.eventType, locale] else {
            return catalog.template(subject.eventType, locale).map(Wording.template)
        }
        let builtIn = (locale.fallbackChain + defaultChain).lazy.compactMap { catalog.template(subject.eventType, $0) }
        return builtIn.first.map { .template(CompleteTemplate(override, completedBy: $0)) }
    }

    private var lastResort: Wording {
        let english = subject.texts == nil ? catalog.template(subject.eventType, .english) : nil
        return english.map(Wording.template) ?? .texts(subject.texts?.lastResort ?? DirectTexts.Text(), nil)
    }
}

/// A template that a ``NotificationRenderer`` chose: what has the same key has the same text.
package struct TemplateKey: Hashable, Sendable {
    fileprivate let index: Int
}

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
