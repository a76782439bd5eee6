import CarillonCore

/// The webhooks of Sendbird (DIALECTS section 4).
struct SendbirdDialect: EventDialect {
    /// Whether entering and leaving open channels is taken for joining and leaving: thousands an hour, where it is much used.
    static let openChannelPresence = "openChannelPresence"

    /// Whether what the application itself says in a channel is taken: its own pushes do not tell of it either, unless they are told to.
    static let adminMessages = "adminMessages"

    let name = DialectName.sendbird

    var switches: [String] { [Self.openChannelPresence, Self.adminMessages] }

    /// Made with the application's master API token.
    var proof: SenderProof { .signature("x-sendbird-signature", called: "x-sendbird-signature") }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        let body = try post.object()
        let category = try body.discriminator("category")
        return DialectReading([SendbirdReading(category: category, body: body, post: post).event])
    }
}

struct SendbirdReading {
    let category: String
    let body: JSONValue
    let post: DialectPost

    private var settings: DialectSettings { post.settings }
    private var clock: SenderClock { post.clock }

    var event: DialectEvent {
        switch category {
        case "group_channel:message_send": sent(isOpen: false)
        case "open_channel:message_send": sent(isOpen: true)
        case "group_channel:message_delete", "open_channel:message_delete": deleted
        case "group_channel:create": created
        case "group_channel:invite": invited
        case "group_channel:join": joined
        case "group_channel:leave": left(people("users", "leavers"), at: "left_at")
        case "group_channel:changed": changed
        case "group_channel:remove", "open_channel:remove":
            inChannel(.channelDeleted, at: ["removed_at"], of: []) { _ in }
        case "open_channel:create": openCreated
        case "open_channel:enter": settings.isOn(SendbirdDialect.openChannelPresence) ? entered : unwanted
        case "open_channel:exit":
            settings.isOn(SendbirdDialect.openChannelPresence)
                ? left([person(body["user"])].compactMap(\.self), at: "exited_at") : unwanted
        default: .ignored(kind: category)
        }
    }

    private var unwanted: DialectEvent {
        .ignored("coming and going in open channels counts with openChannelPresence only")
    }

    // MARK: - Messages

    private func sent(isOpen: Bool) -> DialectEvent {
        let payload = body["payload"] ?? [:]
        if body["type"]?.text == "ADMM" {
            guard settings.isOn(SendbirdDialect.adminMessages) else {
                return .ignored("admin messages count with adminMessages only")
            }
            if person(body["sender"]) == nil { return announced(payload) }
        }
        guard let channel, let sender = person(body["sender"]), let id = payload["message_id"]?.messageID else {
            return .ignored("the message has no usable message_id, channel_url or sender")
        }
        let sourceID = SourceID.of(.sendbird, category, channel.id.rawValue, id)
        var event = Event.sent(sourceID, at: clock.milliseconds(payload["created_at"]), in: channel, by: sender)
        event.members = members.present
        event.message = Message(.string(id), content: kind(payload), text: payload["message"]?.text)
        event.mentions = body["mentioned_users"].elements.compactMap { $0["user_id"] }.userIDs
        event.mentionsAll = body["mention_type"]?.text == "channel"
        event.senderIsMember = !isOpen
        // Its sender asked for no push.
        event.isSilent = body["silent"].isTrue
        event.hiddenFrom = Set(
            body["members"].elements.filter { $0["is_blocking_sender"].isTrue }.compactMap { person($0)?.id }
        )
        return .known(event)
    }

    private var deleted: DialectEvent {
        let id = body["payload"]?["message_id"] ?? body["message_id"]
        return Event.deleted(
            id,
            in: channel,
            SourceID.of(.sendbird, category, channel?.id.rawValue ?? "", id?.idText ?? ""),
            at: clock.milliseconds(body["deleted_at"])
        )
    }

    /// What the application itself says: nobody is its sender, so that it is told in its own words to all members.
    private func announced(_ payload: JSONValue) -> DialectEvent {
        guard let channel, let id = payload["message_id"]?.messageID,
            let text = payload["message"]?.text, !text.isEmpty
        else { return .ignored("the message has no usable message_id or channel_url, or no text") }
        var content = PushContent()
        content.data["channelId"] = .string(channel.id.rawValue)
        var event = Event(
            sourceID: SourceID.of(.sendbird, category, channel.id.rawValue, id),
            type: .notificationDirect,
            timestamp: clock.milliseconds(payload["created_at"]),
            channel: Channel(id: channel.id)
        )
        event.isSilent = body["silent"].isTrue
        event.direct = DirectNotification(
            to: .members(of: channel.id),
            texts: DirectTexts(.init(title: channel.displayName, body: text)),
            module: .chat,
            content: content
        )
        return .known(event)
    }

    private var invited: DialectEvent {
        let inviter = inviter(body["inviter"])
        let invitees = people("invitees").filter { $0.id != inviter?.id }
        guard let inviter, !invitees.isEmpty else { return .ignored("it names nobody by a usable id") }
        return inChannel(.channelInvited, at: ["invited_at"], of: invitees) { event in
            event.actor = inviter
            event.invited = invitees
        }
    }

    private func kind(_ payload: JSONValue) -> String {
        guard body["type"]?.text == "FILE" else { return "text" }
        let type = payload["content_type"]?.text ?? payload["type"]?.text
        return type?.lowercased().hasPrefix("image/") == true ? "image" : "file"
    }

    // MARK: - Channels and members

    private var created: DialectEvent {
        inChannel(.channelCreated, at: ["created_at"], of: []) { event in
            event.actor = inviter(body["inviter"])
            event.members = members.present
            event.invited = members.invited
        }
    }

    private var openCreated: DialectEvent {
        inChannel(.channelCreated, at: ["created_at"], of: []) { $0.members = people("operators") }
    }

    private var joined: DialectEvent {
        let users = people("users")
        guard !users.isEmpty else { return .ignored("it names nobody by a usable id") }
        return inChannel(.memberJoined, at: ["joined_at"], of: users) { event in
            event.members = users
            event.actor = commonInviter(of: users)
            event.existingMembers = members.present.without(users)
            event.isOfNewMembersOnly = true
        }
    }

    private func commonInviter(of users: [Person]) -> Person? {
        let inviters = body["users"].elements.map { person($0["inviter"]) }
        guard let first = inviters.first ?? nil, inviters.allSatisfy({ $0?.id == first.id }) else { return nil }
        return users.contains { $0.id == first.id } ? nil : inviter(body["users"].elements.first?["inviter"])
    }

    private var entered: DialectEvent {
        guard let user = person(body["user"]) else { return .ignored("it names nobody by a usable id") }
        return inChannel(.memberJoined, at: ["entered_at"], of: [user]) { event in
            event.members = [user]
            event.isOfNewMembersOnly = true
        }
    }

    private func left(_ users: [Person], at time: String) -> DialectEvent {
        guard !users.isEmpty else { return .ignored("it names nobody by a usable id") }
        return inChannel(.memberLeft, at: [time], of: users) { $0.members = users }
    }

    private var changed: DialectEvent {
        inChannel(.channelUpdated, at: ["changed_at", "updated_at", "created_at"], of: []) { event in
            let name = body["changes"].elements.last { $0["key"]?.text == "name" }?["new"]
            if let name, let renamed = Channel(.string(event.channel?.id.rawValue ?? ""), name: name) {
                event.channel?.displayName = renamed.displayName ?? ""
            }
        }
    }

    /// An event that is known by its channel, its time and whom it names: there is no id.
    private func inChannel(
        _ type: EventType,
        at times: [String],
        of people: [Person],
        _ fill: (inout Event) -> Void
    ) -> DialectEvent {
        guard let channel else { return .ignored("it has no usable channel_url") }
        let time = times.lazy.compactMap { body[$0] }.first
        let moment = time?.idText ?? Proof.digest(post.bytes)
        let parts = [category, channel.id.rawValue, moment] + people.map(\.id.rawValue).sorted()
        let event = Event(
            sourceID: SourceID.of(.sendbird, parts),
            type: type,
            timestamp: clock.milliseconds(time),
            channel: channel
        )
        return .known(event, fill)
    }

    // MARK: - What they call things

    private var channel: Channel? {
        let named = body["channel"] ?? [:]
        let count = body["members"].elements.count
        // Others may be invited to one of two.
        let isDirect = named["is_distinct"].isTrue && count >= 2 ? count == 2 : nil
        // What Sendbird calls those to which nobody gave a name.
        let name = named["name"].flatMap { $0 == "Group Channel" ? nil : $0 }
        return Channel(
            named["channel_url"],
            name: name,
            namelessness: named.has("name") ? .stated : .generatedID,
            isDirect: isDirect
        )
    }

    /// Those whom the body lists: members, and who is only invited. Supergroups list nobody that counts.
    private var members: (present: [Person], invited: [Person]) {
        guard body["channel"]?["is_super"].isTrue != true else { return ([], []) }
        let listed = body["members"].elements.compactMap { member in
            person(member).map { (person: $0, isInvited: member["state"]?.text == "invited") }
        }
        return (listed.filter { !$0.isInvited }.map(\.person).unique, listed.filter(\.isInvited).map(\.person).unique)
    }

    /// The people of the first of these lists that has any.
    private func people(_ keys: String...) -> [Person] {
        keys.lazy.map { body[$0].elements.compactMap { person($0) }.unique }.first { !$0.isEmpty } ?? []
    }

    private func person(_ value: JSONValue?) -> Person? { Person(value?["user_id"], name: value?["nickname"]) }

    /// Whoever invites, by the name that the list of members has where there is none.
    private func inviter(_ value: JSONValue?) -> Person? {
        guard var person = person(value) else { return nil }
        person.displayName =
            person.displayName
            ?? body["members"].elements.lazy.compactMap(self.person).first { $0.id == person.id }?.displayName
        return person
    }
}
