/// What events of one kind are: all that the pipeline asks of them. What a kind leaves out is as it is for most.
package protocol EventKind: SendableMetatype {
    /// Its name, in bodies and in the database.
    static var name: String { get }

    /// Takes from `data` what such events carry, and requires what they cannot do without; else channel and actor.
    static func read(_ data: inout EventData, into event: inout Event)

    /// Whether what it names is there: a notification's channel and actor may be anything.
    static var describesTheChat: Bool { get }
    /// What it says of the directory, beside names; else nothing.
    static var fact: EventFact? { get }

    /// Whether people are notified of it; else it only keeps the directory true.
    static var notifies: Bool { get }
    /// Whom it concerns, before it is asked who caused it; else the channel's members, if anybody.
    static func audience(of event: Event, in channel: ChannelID) -> Audience
    /// Whether its members are those who act, and are not told of it.
    static var isOfMembers: Bool { get }
    /// Whether it can be meant for somebody by name.
    static var canMention: Bool { get }

    /// Whether the channel's name is all that there is to tell.
    static var needsChannelName: Bool { get }
    /// The arguments of its texts by position: `%1s` is the first.
    static func arguments(in part: TemplatePart) -> [TemplateArgument]
    /// The variants that the body of its templates may have; none where there is nothing to distinguish.
    static var variants: [TemplateVariant] { get }
    /// Adds to a subject, which has the channel, what else is told: who caused it, as a rule. `false` where the event lacks it.
    static func tell(_ event: Event, _ names: DirectoryNames, in subject: inout NotificationSubject) -> Bool
}

/// What an event says of the directory.
package enum EventFact: Sendable {
    /// Its members are some from now on, and so is who caused it, unless it is ``EventKind/isOfMembers``.
    case join
    /// They are members, which is no news of whoever was one before.
    case belong
    case leave
    /// Who caused it is gone, with devices, memberships and toggles.
    case userGone
    /// Its channel is gone, and with it the memberships.
    case channelGone
    /// Its message is gone: nobody is to be told of it any more.
    case messageGone
}

extension EventKind {
    package static func read(_ data: inout EventData, into event: inout Event) {
        event.channel = data.channel()
        event.actor = data.user()
    }

    package static func audience(of event: Event, in channel: ChannelID) -> Audience {
        guard notifies else { return .nobody }
        return event.visibleTo.map { .users($0.sorted(), in: channel) } ?? .members(of: channel)
    }

    package static func arguments(in part: TemplatePart) -> [TemplateArgument] { [] }
    package static func tell(_ event: Event, _ names: DirectoryNames, in subject: inout NotificationSubject) -> Bool {
        guard let actor = event.actor else { return false }
        subject.user = names.name(of: actor)
        subject.variant = subject.channel == nil ? .direct : .channel
        return true
    }

    package static var describesTheChat: Bool { true }
    package static var fact: EventFact? { nil }
    package static var notifies: Bool { false }
    package static var isOfMembers: Bool { false }
    package static var canMention: Bool { false }
    package static var needsChannelName: Bool { false }
    package static var variants: [TemplateVariant] { [] }
}

/// An event's `data`, of which its kind takes what such events carry.
package struct EventData {
    /// The most entries of `members` and of `mentions`.
    private static let maximumPeopleCount = 10_000

    /// Its members, for what no method here reads.
    var object: JSONObjectReader
    /// Whether all of them are understood; else those that the first release knew, which passed over any other, whatever it was.
    let isWhole: Bool

    mutating func channel() -> Channel? { object.channel("channel", required: true, isWhole: isWhole) }

    /// Who caused it.
    mutating func user(required: Bool = false) -> Person? { object.person("user", required: required) }

    mutating func userIDs(_ key: String) -> Set<UserID>? {
        object.userIDs(key, maximumCount: Self.maximumPeopleCount).map { Set($0) }
    }

    /// The people of a list, each an object or the bare id; of several with the same id the first counts.
    mutating func people(_ key: String, required: Bool = false) -> [Person] {
        let elements = object.array(key, required: required, maximumCount: Self.maximumPeopleCount)
        guard let elements else { return [] }
        if required && elements.isEmpty { object.refuse(key, "must not be empty") }
        let pointer = object.pointer(to: key)
        var people: [Person] = []
        people.reserveCapacity(elements.count)
        var seen = Set<UserID>(minimumCapacity: elements.count)
        for (index, element) in elements.enumerated() where !object.errors.isFull {
            let place = pointer + JSONPointer.step(index)
            let person: Person?
            if case .object = element {
                var reader = JSONObjectReader(element, at: place, unknown: .tolerate, into: object.errors)
                person = reader.person()
            } else {
                person = object.userID(element, at: place).map { Person(id: $0) }
            }
            if let person, seen.insert(person.id).inserted { people.append(person) }
        }
        return people
    }

    /// The message, which is required.
    mutating func message() -> Message? {
        guard var message = object.object("message", required: true) else { return nil }
        let text = message.string("text", maximumBytes: .max)
        let kind: Message.Kind =
            switch message.string("type", maximumBytes: .max) {
            case let name?: Message.Kind(rawValue: name) ?? .other
            case nil: text == nil ? .other : .text
            }
        let id = message.string("id", maximumBytes: Identifier<Message>.maximumBytes)
        var read = Message(id: id, kind: kind, text: text ?? "")
        guard isWhole else { return read }
        read.caption = message.string("caption", maximumBytes: .max)
        read.special = message.string("kind", maximumBytes: .max).flatMap(Message.Special.init)
        return read
    }

    /// Takes what keeps an event from people whom its kind concerns.
    mutating func limit(_ event: inout Event) {
        event.visibleTo = userIDs("visibleTo")
        // Not of the contract: what else a sender calls so is theirs.
        if case .array(let ids)? = object.value("hiddenFrom") {
            event.hiddenFrom = Set(ids.prefix(Self.maximumPeopleCount).compactMap { $0.text.flatMap { UserID($0) } })
        }
        event.isSilent = object.bool("notify") == false
    }
}
