/// A notification that no event of the chat caused: whom it is meant for, and what they get (FACES section B1).
///
/// Immutable and shared: events are copied often, and nearly all of them have none.
package final class DirectNotification: Sendable {
    package let audience: Audience
    package let filter: DeviceFilter
    package let texts: DirectTexts
    /// Whose switch is asked.
    package let module: Module
    /// What goes beyond title and body.
    package let content: PushContent

    package init(
        to audience: Audience,
        filter: DeviceFilter = DeviceFilter(),
        texts: DirectTexts = DirectTexts(),
        module: Module = .direct,
        content: PushContent = PushContent()
    ) {
        self.audience = audience
        self.filter = filter
        self.texts = texts
        self.module = module
        self.content = content
    }
}

extension DirectNotification {
    /// About how many bytes it takes in memory.
    package var size: Int {
        let named =
            switch audience {
            case .people(let users): users.count
            case .devices(let devices): devices.count
            case .addresses(let devices): 8 * devices.count
            case .everyone, .members, .nobody, .tags, .users: 0
            }
        let words = ([texts.text] + texts.byLocale.values).reduce(0) {
            $0 + ($1.title?.utf8.count ?? 0) + ($1.body?.utf8.count ?? 0)
        }
        // Data and raw parts are limited to a few kilobytes together.
        return words + named * 64 + (content.parts.count + 1) * 1_024
    }
}

extension DirectNotification: Equatable {
    package static func == (left: DirectNotification, right: DirectNotification) -> Bool {
        left === right
            || left.audience == right.audience && left.filter == right.filter && left.texts == right.texts
                && left.module == right.module && left.content == right.content
    }
}

/// Title and body as their sender wrote them: for everybody, and for those who prefer a language.
package struct DirectTexts: Sendable, Hashable {
    /// A title, a body, or both.
    package struct Text: Sendable, Hashable {
        package var title: String?
        package var body: String?

        package init(title: String? = nil, body: String? = nil) {
            self.title = title
            self.body = body
        }

        package var isEmpty: Bool { title == nil && body == nil }
    }

    /// For whoever prefers none of the languages.
    package var text: Text
    /// By language; what one of them leaves out is looked for where its own fallback leads.
    package var byLocale: [LocaleTag: Text]

    package init(_ text: Text = Text(), byLocale: [LocaleTag: Text] = [:]) {
        self.text = text
        self.byLocale = byLocale
    }

    package var isEmpty: Bool { text.isEmpty && byLocale.isEmpty }
}
