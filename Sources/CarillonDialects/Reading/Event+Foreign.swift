import CarillonCore

/// What others say of people, channels and messages, as far as it can be taken over: a description that goes too far is cut or left
/// out, and what has no usable id is nothing.
extension Person {
    init?(
        _ id: JSONValue?,
        name: JSONValue? = nil,
        locale: JSONValue? = nil,
        roles: [JSONValue]? = nil
    ) {
        guard let id = id?.idText.flatMap({ UserID($0) }), !id.isReserved else { return nil }
        let roles = roles?.compactMap(\.text).filter { $0.utf8.count <= Self.longestRole }.prefix(Self.mostRoles)
        self.init(
            id: id,
            displayName: name?.shownName,
            locale: locale?.text.flatMap { LocaleTag($0)?.rawValue },
            roles: roles.map { Array($0) }
        )
    }
}

extension Channel {
    /// What it means when there is no name.
    enum Namelessness {
        /// Nothing: the sender does not always say it.
        case unsaid
        /// That the channel has none, since the sender would say it.
        case stated
        /// That it has none unless one was stated before: the id is generated, and no word.
        case generatedID
    }

    /// A channel as an object describes it, which says where there is no name. An id is no name.
    init?(of object: JSONValue, id: String, name: String, isDirect: Bool? = nil) {
        self.init(
            object[id],
            name: object[name],
            namelessness: object.has(name) ? .stated : .generatedID,
            isDirect: isDirect
        )
    }

    init?(
        _ id: JSONValue?,
        name: JSONValue? = nil,
        namelessness: Namelessness = .unsaid,
        isDirect: Bool? = nil
    ) {
        guard let id = id?.idText.flatMap({ ChannelID($0) }) else { return nil }
        let name = name?.shownName.flatMap { $0 == id.rawValue ? nil : $0 }
        self.init(
            id: id,
            displayName: name ?? (namelessness == .stated ? "" : nil),
            fallbackName: name == nil && namelessness == .generatedID ? "" : nil,
            isDirect: isDirect
        )
    }

    /// It as events tell of it that have no time of their own, and so count from their arrival: what it is called is so since it was changed,
    /// and where nobody says when that was, everything else that was ever said comes after it.
    func described(at moment: Timestamp?) -> Self {
        var channel = self
        channel.describedAt = moment ?? Timestamp(milliseconds: 0)
        return channel
    }
}

extension Message {
    /// A message of a type that goes by the same names as ours, or any other.
    init(_ id: JSONValue?, type: String, text: String?, caption: String? = nil, special: Special? = nil) {
        let kind = Kind(rawValue: type) ?? .other
        self.init(
            id: id?.messageID,
            kind: kind,
            typeName: kind == .other ? type.beginning(ofBytes: Identifier<Message>.maximumBytes) : nil,
            text: text ?? "",
            caption: caption.flatMap { $0.isBlank ? nil : $0 },
            special: special
        )
    }

    /// A message with content: what is written beside it is its caption, and without content it is all that there is.
    init(_ id: JSONValue?, content type: String?, text: String?) {
        if let type, type != Kind.text.rawValue {
            self.init(id, type: type, text: nil, caption: text)
        } else {
            self.init(id, type: Kind.text.rawValue, text: text)
        }
    }
}

extension JSONValue {
    /// A message's id, where it is one that events may have.
    var messageID: String? {
        idText.flatMap { (1...Identifier<Message>.maximumBytes).contains($0.utf8.count) ? $0 : nil }
    }

    /// A name to show; `nil` for one that is empty or blank.
    fileprivate var shownName: String? {
        text.flatMap { $0.isBlank ? nil : $0.beginning(ofBytes: Person.longestName) }
    }
}

extension Event {
    /// A message, yet without what it says.
    static func sent(_ sourceID: String, at moment: Timestamp, in channel: Channel, by sender: Person) -> Event {
        Event(sourceID: sourceID, type: .messageSent, timestamp: moment, channel: channel, actor: sender)
    }

    static func deleted(
        _ message: JSONValue?,
        in channel: Channel?,
        _ sourceID: String,
        at moment: Timestamp,
        by actor: Person? = nil
    ) -> DialectEvent {
        guard let channel, let id = message?.messageID else {
            return .unreadable("it has no usable id or channel of what is deleted")
        }
        var event = Event(sourceID: sourceID, type: .messageDeleted, timestamp: moment, channel: channel, actor: actor)
        event.message = Message(id: id, kind: .other, text: "")
        return .known(event)
    }
}

extension [Person] {
    /// Each of them once, the first of several with the same id, and no more than an event may list.
    var unique: [Person] {
        var seen = Set<UserID>(minimumCapacity: count)
        return Array(filter { seen.insert($0.id).inserted }.prefix(10_000))
    }

    func without(_ others: some Sequence<Person>) -> [Person] {
        let ids = Set(others.map(\.id))
        return filter { !ids.contains($0.id) }
    }
}

extension [JSONValue] {
    /// The usable ids of people.
    var userIDs: Set<UserID> { Set(compactMap { Person($0)?.id }.prefix(10_000)) }
}
