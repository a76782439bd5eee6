/// What an endpoint changes of a notification that it lets through (FACES section C3).
package struct NotificationChanges: Sendable, Equatable {
    package static let maximumExclusions = 10_000

    /// Titles and bodies in place of those that were rendered: by language, and for all languages that are not named.
    package var texts = DirectTexts()
    /// A merge patch for what the app gets.
    package var data = JSONObject()
    package var excluded: Set<UserID> = []

    package var isEmpty: Bool { texts.isEmpty && data.isEmpty && excluded.isEmpty }
}

extension NotificationChanges {
    /// The text as it is to be shown, cleaned and cut like any other. A language that is named has its own changes only;
    /// which one is named is found as templates are.
    package func edited(_ notification: Notification) -> Notification {
        guard !texts.isEmpty else { return notification }
        let chain = LocaleTag(notification.locale)?.fallbackChain ?? []
        let text = chain.lazy.compactMap { texts.byLocale[$0] }.first ?? texts.text
        return text.edited(notification)
    }

    /// What goes beyond the text, with the data that are merged into it.
    package func edited(_ content: PushContent?) -> PushContent? {
        guard !data.isEmpty else { return content }
        var edited = content ?? PushContent()
        if case .object(let merged) = JSONValue.object(edited.data).merging(patch: .object(data)) {
            edited.data = merged
        }
        return edited
    }

    /// The changes in the form in which endpoints write them.
    package var json: JSONObject {
        [
            "notification": texts.text.isEmpty ? nil : .object(texts.text.json),
            "notifications": texts.languages,
            "data": data.isEmpty ? nil : .object(data),
            "excludeUserIds": excluded.isEmpty ? nil : JSONValue(excluded.sorted().map(\.rawValue)),
        ]
    }

    /// Reads what an endpoint wrote; what is wrong is noted. Languages that are no tags and users whose ids are no ids are
    /// nobody's, and passed over.
    package init(_ reader: inout JSONObjectReader) {
        self.init()
        if var text = reader.object("notification") { texts.text = DirectTexts.Text(&text) }
        if var languages = reader.object("notifications") {
            for name in languages.keys {
                guard var text = languages.object(name) else { continue }
                let words = DirectTexts.Text(&text)
                if let locale = LocaleTag(name) { texts.byLocale[locale] = words }
            }
        }
        if let value = reader.value("data") {
            if case .object(let object) = value { data = object } else { reader.refuse("data", "must be an object") }
        }
        let users = reader.strings("excludeUserIds", maximumCount: Self.maximumExclusions, maximumBytes: .max) ?? []
        excluded = Set(users.compactMap { UserID($0) })
    }

    /// Notes an error where the data, once they are merged, are more than a push service takes or are called as it forbids
    /// (FACES section B1).
    package func check(with content: PushContent?, _ reader: JSONObjectReader) {
        guard !data.isEmpty, let edited = edited(content) else { return }
        let errors = InputErrors()
        var merged = JSONObjectReader(.object(edited.json), unknown: .tolerate, into: errors)
        _ = merged.pushContent()
        guard let error = errors.errors.first else { return }
        let data = reader.pointer(to: "data")
        // Whoever answers knows nothing of the notification's other parts.
        let isOfData = error.pointer.hasPrefix(merged.pointer(to: "data") + "/")
        reader.errors.add(pointer: isOfData ? reader.pointer + error.pointer : data, detail: error.detail)
    }

    /// Notes an error where nothing that can be seen would be left of a notification, in the languages that are named or in all others.
    ///
    /// - Parameters:
    ///   - notification: The notification in one language: its words stand in for those in others, which nobody knows here.
    ///   - reader: The answer.
    ///   - place: Where the text of all others is in it.
    package func checkTexts(of notification: Notification, _ reader: JSONObjectReader, at place: [String]) {
        let pointer = { (names: [String]) in names.reduce(reader.pointer) { $0 + JSONPointer.step($1) } }
        let detail = "leaves nothing that can be seen"
        if texts.text.leavesNothing(of: notification) { reader.errors.add(pointer: pointer(place), detail: detail) }
        for (locale, text) in texts.byLocale.sorted(by: { $0.key < $1.key })
        where text.leavesNothing(of: notification) {
            reader.errors.add(pointer: pointer(["notifications", locale.rawValue]), detail: detail)
        }
    }
}

extension DirectTexts.Text {
    /// A notification with these words in place of its own, cleaned and cut like any.
    fileprivate func edited(_ notification: Notification) -> Notification {
        Notification(
            locale: notification.locale,
            title: title.map { TemplatePart.title.cleaned($0) } ?? notification.title,
            body: body.map { TemplatePart.body.cleaned($0) } ?? notification.body
        )
    }

    fileprivate func leavesNothing(of notification: Notification) -> Bool {
        guard !isEmpty else { return false }
        let edited = edited(notification)
        return !TemplatePart.title.shows(edited.title) && !TemplatePart.body.shows(edited.body)
    }

    fileprivate init(_ reader: inout JSONObjectReader) {
        self.init(
            title: reader.string("title", maximumBytes: .max),
            body: reader.string("body", maximumBytes: .max)
        )
    }
}
