import CarillonCore

/// The webhooks of GetStream's Chat (DIALECTS section 5).
struct StreamDialect: EventDialect {
    /// What a channel is known by.
    enum ChannelIDs: String, CaseIterable {
        /// Its type and id, which together are unique.
        case cid
        case id
    }

    let name = DialectName.stream

    func settings(from reader: inout JSONObjectReader) -> JSONObject {
        ["channelId": reader.choice("channelId", as: ChannelIDs.self).map { .string($0.rawValue) }]
    }

    /// Made of the body as it is unpacked.
    var proof: SenderProof { .signature("x-signature", called: "X-Signature") }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        let body = try post.object()
        let type = try body.discriminator("type")
        let ids = post.settings.text("channelId").flatMap(ChannelIDs.init) ?? .cid
        return DialectReading([StreamReading(type: type, body: body, ids: ids, post: post).event])
    }
}

struct StreamReading {
    let type: String
    let body: JSONValue
    let ids: StreamDialect.ChannelIDs
    let post: DialectPost

    private var clock: SenderClock { post.clock }

    var event: DialectEvent {
        switch type {
        case "message.new": sent
        case "message.deleted":
            Event.deleted(body["message"]?["id"], in: channel, deliveryID, at: time, by: person(body["user"]))
        case "channel.created": inChannel(.channelCreated, created)
        case "channel.updated": inChannel(.channelUpdated) { $0.actor = person(body["user"]) }
        case "channel.deleted": inChannel(.channelDeleted) { $0.actor = person(body["user"]) }
        case "member.added": joined
        case "member.updated": accepted
        case "member.removed": left
        case "user.updated", "user.reactivated": ofUser(.userUpdated)
        case "user.deleted": ofUser(.userDeleted)
        default: .ignored(kind: type)
        }
    }

    // MARK: - Messages

    private var sent: DialectEvent {
        let message = body["message"] ?? [:]
        switch message["type"]?.text {
        case "system", "error", "ephemeral", "deleted": return .ignored("it is no message of a person")
        default: break
        }
        if message["shadowed"].isTrue { return .ignored("its sender is shadow-banned") }
        guard let channel, let sender = person(message["user"]) ?? person(body["user"]),
            let id = message["id"]?.messageID
        else { return .ignored("the message has no usable id, cid or user") }
        let moment = clock.rfc3339OrNanoseconds(message["created_at"] ?? body["created_at"])
        var event = Event.sent(SourceID.of(.stream, channelNumber ?? "", id), at: moment, in: channel, by: sender)
        event.members = members
        // Who looks at a livestream is no member of it.
        event.senderIsMember = channelNumber?.hasPrefix("livestream:") != true
        event.message = content(of: message, .string(id))
        let mentioned = message["mentioned_users"].elements
        event.mentions = mentioned.map { $0["id"] ?? $0 }.userIDs
        event.mentionsAll = message["mentioned_channel"].isTrue || message["mentioned_here"].isTrue
        event.visibleTo = audience(of: message, event.mentions)
        event.hiddenFrom = Set(listedMembers.filter { $0["notifications_muted"].isTrue }.compactMap { person($0)?.id })
        return .known(event)
    }

    private func content(of message: JSONValue, _ id: JSONValue) -> Message {
        let text = message["text"]?.text
        if message["poll"] != nil || message["poll_id"]?.text?.isEmpty == false {
            return Message(id, type: "poll", text: nil, caption: text, special: .poll)
        }
        if message["shared_location"] != nil {
            return Message(id, type: "location", text: nil, caption: text, special: .location)
        }
        // What was fetched from a link that somebody wrote is no content of theirs.
        let hasLink = text?.isBlank == false
        let attachments = message["attachments"].elements.filter {
            $0["og_scrape_url"] == nil && !(hasLink && $0["title_link"] != nil)
        }
        let types = attachments.compactMap { $0["type"]?.text }
        return Message(id, content: types.contains("image") ? "image" : types.first, text: text)
    }

    /// Whom a message is limited to: those who may see it, and of a reply in a thread those who take part in it or are mentioned,
    /// as Stream's own pushes are.
    private func audience(of message: JSONValue, _ mentions: Set<UserID>) -> Set<UserID>? {
        var audience: Set<UserID>?
        // Whatever it is that limits a message, nobody else is told.
        switch message["restricted_visibility"] {
        case nil, .null?, .array([])?: break
        case let restricted?: audience = (restricted.list ?? []).userIDs
        }
        let participants = message["thread_participants"] ?? body["thread_participants"]
        let isForAll = message["mentioned_channel"].isTrue || message["mentioned_here"].isTrue
        if !isForAll, message["parent_id"]?.text != nil, !message["show_in_channel"].isTrue,
            !participants.elements.isEmpty
        {
            let thread = participants.elements.compactMap { person($0)?.id }
            let told = mentions.union(thread)
            audience = audience.map { $0.intersection(told) } ?? told
        }
        return audience
    }

    // MARK: - Channels and members

    private func created(_ event: inout Event) {
        event.actor = person(body["channel"]?["created_by"]) ?? person(body["user"])
        event.members = members
    }

    private var joined: DialectEvent {
        guard body["member"].map(isMember) ?? true else {
            return .ignored("who is invited is a member from accepting on")
        }
        return joins
    }

    /// Of what changes of a member, only that they accepted an invitation is news.
    private var accepted: DialectEvent {
        guard let member = body["member"], member["invite_accepted_at"] != nil, isMember(member) else {
            return .ignored("member.updated is nothing to notify of")
        }
        return joins
    }

    private var joins: DialectEvent {
        guard let member = person(body["member"]) else { return .ignored("it names no member by a usable id") }
        return inChannel(.memberJoined) { event in
            event.members = [member]
            // Mostly the member; should it be somebody else, it is who added them.
            event.actor = person(body["user"]).flatMap { $0.id == member.id ? nil : $0 }
            event.existingMembers = members.without([member])
            event.isOfNewMembersOnly = true
        }
    }

    private var left: DialectEvent {
        guard let member = person(body["member"]) ?? person(body["user"]) else {
            return .ignored("it names no member by a usable id")
        }
        return inChannel(.memberLeft) { $0.members = [member] }
    }

    private func inChannel(_ type: EventType, _ fill: (inout Event) -> Void) -> DialectEvent {
        guard let channel else { return .ignored("it has no usable cid") }
        return .known(Event(sourceID: deliveryID, type: type, timestamp: time, channel: channel), fill)
    }

    private func ofUser(_ type: EventType) -> DialectEvent {
        guard let user = person(body["user"]) else { return .ignored("it names no user by a usable id") }
        let subject = type == .userDeleted ? Person(id: user.id) : user
        return .known(Event(sourceID: deliveryID, type: type, timestamp: time, actor: subject))
    }

    /// `X-Webhook-Id` is the same over retries.
    private var deliveryID: String {
        guard let id = post.request.values("x-webhook-id").first, !id.isEmpty else {
            return SourceID.of(.stream, body: post.bytes)
        }
        return SourceID.of(.stream, type, id)
    }

    private var time: Timestamp { clock.rfc3339OrNanoseconds(body["created_at"]) }

    // MARK: - What they call things

    /// Type and id of the channel.
    private var channelNumber: String? {
        if let cid = body["cid"]?.text ?? body["channel"]?["cid"]?.text { return cid }
        guard let type = body["channel_type"]?.text ?? body["channel"]?["type"]?.text,
            let id = body["channel_id"]?.text ?? body["channel"]?["id"]?.text
        else { return nil }
        return "\(type):\(id)"
    }

    private var channel: Channel? {
        guard let cid = channelNumber else { return nil }
        let id = cid.firstIndex(of: ":").map { String(cid[cid.index(after: $0)...]) } ?? cid
        let named = body["channel"] ?? [:]
        // Channels that are made for some people have no id of their own.
        let count = named["member_count"]?.wholeNumber ?? members.count
        return Channel(
            .string(ids == .cid ? cid : id),
            name: named["name"] ?? named["custom"]?["name"] ?? body["channel_custom"]?["name"],
            // Messages carry the name in some applications only.
            namelessness: type == "channel.created" || type == "channel.updated"
                ? .stated : id.hasPrefix("!members-") ? .generatedID : .unsaid,
            // Others may be added to one of two.
            isDirect: id.hasPrefix("!members-") && count >= 2 ? count == 2 : nil
        )
    }

    /// The members whom the body lists, in either of the places where they may be; there are never more than 50.
    private var members: [Person] {
        listedMembers.filter(isMember).compactMap { person($0) }.unique
    }

    private func isMember(_ member: JSONValue) -> Bool {
        let isInvited = member["invited"].isTrue && member["invite_accepted_at"] == nil
        return !isInvited && member["deleted_at"] == nil
    }

    private var listedMembers: [JSONValue] { body["members"].elements + (body["channel"]?["members"]).elements }

    /// A member, of whom `user_id` says more than the user inside, or a user.
    private func person(_ value: JSONValue?) -> Person? {
        guard let value else { return nil }
        if case .string = value { return Person(value) }
        let user = value["user"] ?? (value["user_id"] == nil ? value : [:])
        let id = value["user_id"] ?? user["id"]
        // The user inside may be somebody else in samples: of them, the name would be wrong.
        let isSame = user["id"] == nil || user["id"] == id
        return Person(
            id,
            name: isSame ? user["name"] ?? user["custom"]?["name"] : nil,
            locale: isSame ? user["language"] : nil,
            roles: isSame ? user["role"].map { [$0] } : nil
        )
    }
}
