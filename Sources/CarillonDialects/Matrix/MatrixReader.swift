import CarillonCore

struct MatrixReader {
    let settings: DialectSettings
    let clock: SenderClock

    func event(_ json: JSONValue) -> DialectEvent {
        // Whoever joins a room before it has a name is told of people, and not of the room's id.
        guard let id = json["event_id"]?.messageID, let room = Channel(json["room_id"], namelessness: .generatedID),
            let sender = Person(json["sender"])
        else { return .unreadable("it has no usable event_id, room_id or sender") }
        let moment = clock.milliseconds(json["origin_server_ts"])
        let event = Event.sent(SourceID.of(.matrix, id), at: moment, in: room, by: sender)
        let content = json["content"] ?? [:]
        let type = json["type"]?.text ?? ""
        // Whether there is a key, be it empty, tells what changes a room from what is said in it.
        guard let key = json["state_key"]?.text else {
            return type == "m.room.redaction"
                ? Event.deleted(
                    json["redacts"] ?? content["redacts"],
                    in: room,
                    event.sourceID,
                    at: event.timestamp,
                    by: sender
                ) : said(type, content, event)
        }
        return changed(type, key, content, json, event)
    }

    // MARK: - What is said

    private func said(_ type: String, _ content: JSONValue, _ event: Event) -> DialectEvent {
        var event = event
        let id = String(event.sourceID.dropFirst(DialectName.matrix.rawValue.count + 1))
        // Also of what is encrypted this is not.
        guard content["m.relates_to"]?["rel_type"]?.text != "m.replace" else { return .ignored("it is an edit") }
        guard content["msgtype"]?.text != "m.notice" else { return .ignored("notices are from bots") }
        guard type != "m.room.encrypted" || !settings.isOn(MatrixDialect.ignoreEncrypted) else {
            return .ignored("encrypted messages are ignored")
        }
        guard case .object(let members) = content, var message = Message(matrixType: type, content: members) else {
            return .ignored(kind: type)
        }
        message.id = id
        event.message = message
        event.mentions = (content["m.mentions"]?["user_ids"]).elements.userIDs
        event.mentionsAll = (content["m.mentions"]?["room"]).isTrue
        return .known(event)
    }

    // MARK: - What changes a room

    private func changed(
        _ type: String,
        _ key: String,
        _ content: JSONValue,
        _ json: JSONValue,
        _ event: Event
    ) -> DialectEvent {
        var event = event
        switch type {
        case "m.room.create":
            event.type = .channelCreated
            event.actor = Person(content["creator"]) ?? event.actor
            event.members = [event.actor].compactMap(\.self)
            event.channel?.displayName = ""
        case "m.room.name":
            event.type = .channelUpdated
            event.channel = Channel(json["room_id"], name: content["name"], namelessness: .stated)
        case "m.room.canonical_alias":
            event.type = .channelUpdated
            // Without one the room has none any more.
            event.channel?.fallbackName = Channel(json["room_id"], name: content["alias"])?.displayName ?? ""
        case "m.room.tombstone":
            event.type = .channelDeleted
        case "m.room.member":
            return ofMember(key, content, json, event)
        default:
            return .ignored(kind: type)
        }
        return .known(event)
    }

    private func ofMember(
        _ key: String,
        _ content: JSONValue,
        _ json: JSONValue,
        _ event: Event
    ) -> DialectEvent {
        guard let member = Person(.string(key), name: content["displayname"]) else {
            return .unreadable("the member has no usable id")
        }
        let former = (json["unsigned"]?["prev_content"] ?? json["prev_content"])?["membership"]?.text
        var event = event
        event.members = [member]
        if event.actor?.id == member.id { event.actor = nil }
        switch (content["membership"]?.text, former) {
        case ("join", "join"):
            guard member.displayName != nil, !settings.isOn(MatrixDialect.ignoreProfiles) else {
                return .ignored("the profile says nothing new")
            }
            event = Event(sourceID: event.sourceID, type: .userUpdated, timestamp: event.timestamp, actor: member)
        case ("join", _):
            event.type = .memberJoined
            event.isOfNewMembersOnly = true
        case ("leave", "join"), ("ban", "join"), ("leave", nil), ("ban", nil):
            event.type = .memberLeft
        case ("invite", _):
            guard event.actor != nil else { return .ignored("nobody invites themselves") }
            event.type = .channelInvited
            (event.members, event.invited) = ([], [member])
            if content["is_direct"].isTrue { event.channel?.isDirect = true }
        default:
            return .ignored("a knock makes nobody a member")
        }
        return .known(event)
    }
}
