import CarillonCore

/// Reads the body of an event webhook: `{"event","data"}`.
struct AmityReading {
    private let kind: String
    private let bytes: [UInt8]
    private let data: JSONValue

    /// What of a body is repeated in each of its events may be this many people in all.
    private static let mostPeople = 20_000
    /// What nothing says the time of.
    private static let arrivals: Set<String> = [
        "channel.didJoin", "channel.didAddUsers", "channel.didLeave", "channel.didRemoveUsers", "channel.didBan",
    ]

    /// The people that the body describes, in their order.
    private let users: [Person]
    /// The channels that anybody may be in or write to who is no member, as far as the body has them.
    private let open: Set<ChannelID>
    private let byID: [UserID: Person]
    /// Those in `userIds`, as the body describes them; without it, all whom it describes.
    private let named: [Person]
    /// Who is said to be gone.
    private let deleted: Set<UserID>
    private let clock: SenderClock
    /// When it was sent, where that is said: mostly it is not.
    private let sentAt: Timestamp

    init(_ kind: String, _ body: JSONValue, _ post: DialectPost) {
        self.kind = kind
        bytes = post.bytes
        data = body["data"] ?? [:]
        let clock = post.clock
        self.clock = clock
        sentAt = clock.rfc3339(body["timestamp"])
        // Joins and leaves count from their arrival, and what somebody is called from when that was changed.
        let isArrival = Self.arrivals.contains(kind)
        let described = (data["users"]?.oneOrMore ?? []).compactMap { user in
            Person(user["userId"], name: user["displayName"], roles: user["roles"]?.list).map { person in
                var person = person
                if isArrival { person.describedAt = (user["updatedAt"] ?? user["createdAt"]).map(clock.rfc3339) }
                return (person: person, isDeleted: user["isDeleted"].isTrue)
            }
        }
        let users = described.map(\.person).unique
        let byID = Dictionary(users.map { ($0.id, $0) }) { first, _ in first }
        named =
            data["userIds"]?.list.map { ids in ids.compactMap { Person($0).map { byID[$0.id] ?? $0 } }.unique } ?? users
        self.users = users
        self.byID = byID
        deleted = Set(described.filter(\.isDeleted).map(\.person.id))
        let channels = (data["channel"] ?? data["channels"])?.oneOrMore ?? []
        open = Set(
            channels.filter { ["broadcast", "live"].contains($0["type"]?.text) }
                .compactMap { Channel($0["channelId"])?.id }
        )
    }

    var reading: DialectReading {
        switch kind {
        case "channel.didCreate": ofChannels(created)
        case "channel.didJoin": ofChannels { joined($0, by: nil) }
        case "channel.didAddUsers": ofChannels { joined($0, by: data["adderId"]) }
        case "channel.didLeave": ofChannels { moved(.memberLeft, $0, by: nil) }
        case "channel.didRemoveUsers": ofChannels { moved(.memberLeft, $0, by: data["removerId"]) }
        case "channel.didBan": ofChannels { moved(.memberLeft, $0, by: data["actorId"]) }
        case "channel.didUpdate", "channel.didUpdateMeta": ofChannels(updated)
        case "channel.didClose", "channel.didDelete": ofChannels(deleted)
        case "message.didCreate": ofMessages(sent)
        case "message.didDelete": ofMessages { message, _ in deleted(message) }
        case "user.didCreate", "user.didUpdate": DialectReading(described)
        default: DialectReading([.ignored(kind: kind)])
        }
    }

    // MARK: - Channels

    private func ofChannels(_ make: (JSONValue) -> Event?) -> DialectReading {
        let channels = (data["channel"] ?? data["channels"])?.oneOrMore ?? []
        guard !isTooMuch(channels) else { return .ignored("it names too many people too often") }
        let id = SourceID.of(.amity, body: bytes)
        return DialectReading(
            channels.enumerated().map { index, channel in
                guard var event = make(channel) else {
                    return .unreadable("it names no channel, or nobody, by a usable id").named(
                        "channel",
                        index,
                        of: channels
                    )
                }
                event.sourceID = SourceID.at(index, of: id)
                let told = event.members + event.existingMembers + [event.actor].compactMap(\.self)
                event.people = users.without(told)
                // Amity's own switch for pushes of this channel.
                event.isSilent = event.type.notifies && channel["notificationMode"]?.text == "silent"
                return .known(event)
            }
        )
    }

    private func created(_ channel: JSONValue) -> Event? {
        var event = event(.channelCreated, channel, at: clock.rfc3339(channel["createdAt"]))
        event?.members = named
        // No field for it is documented; where there is one, it is right.
        event?.actor = person(channel["userId"] ?? channel["createdBy"])
        return event
    }

    private func joined(_ channel: JSONValue, by actor: JSONValue?) -> Event? {
        var event = moved(.memberJoined, channel, by: actor)
        if let id = event?.channel?.id, !open.contains(id) {
            event?.existingMembers = [person(actor)].compactMap(\.self).without(named)
        }
        event?.isOfNewMembersOnly = true
        return event
    }

    private func moved(_ type: EventType, _ channel: JSONValue, by actor: JSONValue?) -> Event? {
        guard !named.isEmpty else { return nil }
        // Nothing says when somebody joined: the channel's own times would lose against a later leave.
        var event = event(type, channel, at: sentAt)
        event?.members = named
        event?.actor = person(actor)
        return event
    }

    private func updated(_ channel: JSONValue) -> Event? {
        var event = event(.channelUpdated, channel, at: clock.rfc3339(channel["updatedAt"]))
        event?.actor = person(data["userId"])
        return event
    }

    private func deleted(_ channel: JSONValue) -> Event? { event(.channelDeleted, channel, at: sentAt) }

    private func event(_ type: EventType, _ channel: JSONValue, at moment: Timestamp) -> Event? {
        let isDirect = channel["type"]?.text == "conversation" ? true : nil
        let changedAt = (channel["updatedAt"] ?? channel["createdAt"]).map(clock.rfc3339)
        guard let named = Channel(of: channel, id: "channelId", name: "displayName", isDirect: isDirect) else {
            return nil
        }
        return Event(
            sourceID: "",
            type: type,
            timestamp: moment,
            channel: Self.arrivals.contains(kind) ? named.described(at: changedAt) : named
        )
    }

    // MARK: - Messages and people

    /// Whether it would be many times the body to say everybody in each event.
    private func isTooMuch(_ elements: [JSONValue]) -> Bool {
        elements.count > 1 && elements.count * max(1, users.count + named.count) > Self.mostPeople
    }

    private func ofMessages(_ read: (JSONValue, [Person]) -> DialectEvent) -> DialectReading {
        let messages = data["messages"]?.oneOrMore ?? []
        return DialectReading(
            messages.enumerated().map { index, message in
                // Where it would be many times the body, one says who the people are, and the others who writes.
                let people = index == 0 || !isTooMuch(messages) ? users : []
                return read(message, people).named("message", index, of: messages)
            }
        )
    }

    private func deleted(_ message: JSONValue) -> DialectEvent {
        let id = message["messageId"]
        return Event.deleted(
            id,
            in: Channel(message["channelId"]),
            SourceID.of(.amity, kind, id?.messageID ?? ""),
            at: message["updatedAt"] == nil ? sentAt : clock.rfc3339(message["updatedAt"]),
            by: person(message["userId"])
        )
    }

    private func sent(_ message: JSONValue, _ people: [Person]) -> DialectEvent {
        guard !message["isDeleted"].isTrue else { return .ignored("the message is deleted") }
        guard let channel = Channel(message["channelId"]), let sender = person(message["userId"]),
            let id = message["messageId"]?.messageID
        else { return .unreadable("it has no usable messageId, channelId or userId") }
        let moment = clock.rfc3339(message["createdAt"])
        var event = Event.sent(SourceID.of(.amity, kind, id), at: moment, in: channel, by: sender)
        event.people = people.without([sender])
        event.senderIsMember = !open.contains(channel.id)
        let said = message["data"]
        event.message = Message(
            .string(id),
            type: message["type"]?.text ?? "text",
            text: said?["text"]?.text,
            caption: said?["caption"]?.text
        )
        let mentionees = message["mentionees"].elements
        event.mentionsAll = mentionees.contains { $0["type"]?.text == "channel" }
        event.mentions = Set(
            mentionees.lazy.filter { $0["type"]?.text == "user" }.flatMap { $0["userIds"].elements.userIDs }
        )
        return .known(event)
    }

    private var described: [DialectEvent] {
        let entries = data["users"]?.oneOrMore ?? []
        let id = SourceID.of(.amity, body: bytes)
        return entries.enumerated().map { index, entry in
            guard let user = person(entry["userId"]) else {
                return .unreadable("it has no usable userId").named("user", index, of: entries)
            }
            let isDeleted = deleted.contains(user.id)
            return .known(
                Event(
                    sourceID: SourceID.at(index, of: id),
                    type: isDeleted ? .userDeleted : .userUpdated,
                    timestamp: clock.rfc3339(entry["updatedAt"]),
                    actor: isDeleted ? Person(id: user.id) : user
                )
            )
        }
    }

    /// Somebody as the body describes them.
    private func person(_ id: JSONValue?) -> Person? {
        guard let person = Person(id) else { return nil }
        return byID[person.id] ?? person
    }
}
