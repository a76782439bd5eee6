package import CarillonCore

/// What a body says.
package struct DialectReading: Sendable, Equatable {
    /// Its events, in their order; at least one unless it ``isList``.
    package var events: [DialectEvent]
    /// Whether the sender expects to be told of each, however many there are.
    package var isList: Bool

    init(_ events: [DialectEvent], isList: Bool = false) {
        self.events = events.isEmpty && !isList ? [.ignored("nothing in it can be understood")] : events
        self.isList = isList
    }

    /// Why the first thing that is ignored is, what cannot be read before all else; `nil` where nothing is.
    package var reason: String? {
        let ignored = events.filter { if case .ignored = $0.content { true } else { false } }
        guard case .ignored(let reason)? = (ignored.first(where: \.isUnreadable) ?? ignored.first)?.content else {
            return events.isEmpty ? "it holds no events" : nil
        }
        return reason
    }

    /// How many of its events are known to Carillon.
    package var knownCount: Int { events.count { if case .known = $0.content { true } else { false } } }

    static func ignored(_ reason: String) -> Self { Self([.ignored(reason)]) }
}

/// One thing that a body says.
package struct DialectEvent: Sendable, Equatable {
    /// What it is to us.
    package enum Content: Sendable, Equatable {
        /// An event, and what is stored of it.
        case known(Event, canonical: JSONValue)
        case ignored(String)
    }

    package var content: Content
    /// What its sender knows it by, where that is told back.
    package var shownID: String?
    /// Whether it is ignored because it could not be read at all.
    package var isUnreadable = false

    /// An event as `fill` completes it.
    static func known(_ event: Event, _ fill: (inout Event) -> Void = { _ in }) -> Self {
        var event = event
        fill(&event)
        // As many as a stored event may name: whoever is beyond them is not told, rather than everybody.
        event.mentions = Set(event.mentions.prefix(10_000))
        event.visibleTo = event.visibleTo.map { Set($0.sorted().prefix(10_000)) }
        event.hiddenFrom = Set(event.hiddenFrom.sorted().prefix(10_000))
        return Self(content: .known(event, canonical: event.canonicalJSON))
    }

    static func ignored(_ reason: String) -> Self { Self(content: .ignored(reason)) }

    /// Something of a kind, as its sender calls it, that nobody is notified of.
    static func ignored(kind: String) -> Self {
        ignored("\(kind.shortened(toCharacters: 64, bytes: 256)) is nothing to notify of")
    }

    /// Something that cannot be read, among others that can.
    static func unreadable(_ reason: String) -> Self {
        var event = ignored(reason)
        event.isUnreadable = true
        return event
    }

    /// It with pictures in the place of short names of emoji.
    var withEmoji: Self {
        guard case .known(var event, _) = content, let message = event.message else { return self }
        event.message?.text = EmojiNames.shown(in: message.text)
        event.message?.caption = message.caption.map(EmojiNames.shown)
        guard event.message != message else { return self }
        var read = self
        read.content = .known(event, canonical: event.canonicalJSON)
        return read
    }

    /// It as one of several of a body: what cannot be read of them is named.
    func named(_ noun: String, _ index: Int, of others: some Collection) -> Self {
        guard others.count > 1, isUnreadable, case .ignored(let reason) = content else { return self }
        var event = self
        event.content = .ignored("\(noun) \(index + 1): \(reason)")
        return event
    }

    package var parsed: ParsedEvent {
        switch content {
        case .known(let event, let canonical):
            ParsedEvent(sourceID: event.sourceID, content: .known(event), body: canonical.serialized)
        case .ignored(let reason):
            ParsedEvent(sourceID: "", content: .ignored(type: reason), body: [])
        }
    }
}
