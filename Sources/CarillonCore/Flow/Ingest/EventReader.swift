/// Reads one event from its JSON, by the table of API section 3.
struct EventReader {
    /// Longer than any type that Carillon knows.
    private static let maximumTypeBytes = 256
    /// The most entries of `members` and of `mentions`.
    private static let maximumPeopleCount = 10_000

    /// Which members of an event's data are understood.
    enum Vocabulary {
        /// All that are documented.
        case whole
        /// Those of the first release, which passed over everything else, whatever it was.
        case first
    }

    /// When an event without a timestamp happened.
    let now: Timestamp
    /// The source id of an event without one.
    let fallbackSourceID: String?
    /// Reads direct notifications; `nil` where they are a type like any other that is unknown.
    var directReader: DirectNotificationReader?
    /// Where errors go.
    let errors: InputErrors
    /// What is understood.
    var vocabulary = Vocabulary.whole

    /// Answers `nil` only when it noted an error. After an error it goes on, to find the others.
    func read(_ value: JSONValue, at pointer: String) -> (sourceID: String, content: ParsedEvent.Content)? {
        let errorsBefore = errors.errors.count
        var envelope = JSONObjectReader(value, at: pointer, unknown: .tolerate, into: errors)
        let sourceID = sourceID(in: &envelope)
        let typeName = envelope.string(
            "type",
            required: true,
            maximumBytes: Self.maximumTypeBytes,
            nonEmpty: true
        )
        guard let typeName else { return nil }
        guard let type = EventType(known: typeName), type != .notificationDirect || directReader != nil else {
            return sourceID.map { ($0, .ignored(type: typeName)) }
        }
        var event = Event(sourceID: sourceID ?? "", type: type, timestamp: timestamp(in: &envelope))
        if var data = envelope.object("data", required: true) {
            fill(&event, from: &data)
        }
        return errors.errors.count == errorsBefore ? (event.sourceID, .known(event)) : nil
    }

    private func sourceID(in envelope: inout JSONObjectReader) -> String? {
        if let fallbackSourceID, !envelope.contains("id") || envelope.isNull("id") {
            guard Identifier<Event>(fallbackSourceID) != nil else {
                errors.add(pointer: envelope.pointer, detail: "webhook-id \(InputRule.identifier)")
                return nil
            }
            return fallbackSourceID
        }
        return envelope.identifier("id", as: Event.self, required: true)?.rawValue
    }

    private func timestamp(in envelope: inout JSONObjectReader) -> Timestamp {
        guard let timestamp = envelope.timestamp("timestamp") else { return now }
        return timestamp > now + EventParser.clockTolerance ? now : timestamp
    }

    /// Takes from `data` what events of this type carry, and requires what they cannot do without.
    private func fill(_ event: inout Event, from data: inout JSONObjectReader) {
        switch event.type {
        case .channelCreated:
            event.channel = channel(in: &data)
            event.actor = data.person("user")
            event.members = members(in: &data, required: false)
            if vocabulary == .whole { event.invited = members("invited", in: &data, required: false) }
        case .channelInvited:
            event.channel = channel(in: &data)
            event.actor = data.person("user", required: true)
            event.invited = members("invited", in: &data, required: true)
        case .channelUpdated, .channelDeleted:
            event.channel = channel(in: &data)
            event.actor = data.person("user")
        case .memberJoined:
            event.channel = channel(in: &data)
            event.actor = data.person("user")
            event.members = members(in: &data, required: true)
            if vocabulary == .whole {
                event.existingMembers = members("existingMembers", in: &data, required: false)
                event.isOfNewMembersOnly = data.bool("newOnly") ?? false
            }
        case .memberLeft:
            event.channel = channel(in: &data)
            event.actor = data.person("user")
            // Who leaves by themselves need not be named twice.
            let leaver = data.contains("members") ? nil : event.actor
            event.members = leaver.map { [$0] } ?? members(in: &data, required: true)
        case .messageSent:
            event.channel = channel(in: &data)
            event.actor = data.person("user", required: true)
            event.message = message(in: &data)
            event.mentions = Set(data.userIDs("mentions", maximumCount: Self.maximumPeopleCount) ?? [])
            if vocabulary == .whole {
                event.members = members(in: &data, required: false)
                event.mentionsAll = data.bool("mentionsAll") ?? false
                event.senderIsMember = data.bool("senderIsMember") ?? true
            }
        case .messageDeleted:
            event.channel = channel(in: &data)
            event.actor = data.person("user")
            guard var message = data.object("message", required: true) else { break }
            let longest = Identifier<Message>.maximumBytes
            let id = message.string("id", required: true, maximumBytes: longest, nonEmpty: true)
            event.message = Message(id: id, kind: .other, text: "")
        case .notificationDirect:
            directReader?.fill(&event, from: &data)
        case .userUpdated, .userDeleted:
            event.actor = data.person("user", required: true)
        case .other:
            break
        }
        guard vocabulary == .whole else { return }
        if event.type.notifies { limit(&event, from: &data) }
        if event.type.describesTheChat { event.people = members("people", in: &data, required: false) }
    }

    /// Takes from `data` what keeps an event from people whom its type concerns.
    private func limit(_ event: inout Event, from data: inout JSONObjectReader) {
        event.visibleTo = data.userIDs("visibleTo", maximumCount: Self.maximumPeopleCount).map { Set($0) }
        // Not of the contract: what else a sender calls so is theirs.
        if case .array(let ids)? = data.value("hiddenFrom") {
            event.hiddenFrom = Set(
                ids.prefix(Self.maximumPeopleCount).compactMap {
                    if case .string(let id) = $0 { UserID(id) } else { nil }
                }
            )
        }
        event.isSilent = data.bool("notify") == false
    }

    private func channel(in data: inout JSONObjectReader) -> Channel? {
        data.channel("channel", required: true, isWhole: vocabulary == .whole)
    }

    /// The people in `members` or another list, each an object or the bare id; of several with the same id the first counts.
    private func members(
        _ key: String = "members",
        in data: inout JSONObjectReader,
        required: Bool
    ) -> [Person] {
        let elements = data.array(key, required: required, maximumCount: Self.maximumPeopleCount)
        guard let elements else { return [] }
        if required && elements.isEmpty { data.refuse(key, "must not be empty") }
        let pointer = data.pointer(to: key)
        var people: [Person] = []
        people.reserveCapacity(elements.count)
        var seen = Set<UserID>(minimumCapacity: elements.count)
        for (index, element) in elements.enumerated() where !errors.isFull {
            let place = pointer + JSONPointer.step(index)
            let person: Person?
            if case .object = element {
                var reader = JSONObjectReader(element, at: place, unknown: .tolerate, into: errors)
                person = reader.person()
            } else {
                person = data.userID(element, at: place).map { Person(id: $0) }
            }
            if let person, seen.insert(person.id).inserted { people.append(person) }
        }
        return people
    }

    private func message(in data: inout JSONObjectReader) -> Message? {
        guard var message = data.object("message", required: true) else { return nil }
        let text = message.string("text", maximumBytes: .max)
        let kind: Message.Kind =
            switch message.string("type", maximumBytes: .max) {
            case let name?: Message.Kind(rawValue: name) ?? .other
            case nil: text == nil ? .other : .text
            }
        let id = message.string("id", maximumBytes: Identifier<Message>.maximumBytes)
        var read = Message(id: id, kind: kind, text: text ?? "")
        guard vocabulary == .whole else { return read }
        read.caption = message.string("caption", maximumBytes: .max)
        read.special = message.string("kind", maximumBytes: .max).flatMap(Message.Special.init)
        return read
    }
}
