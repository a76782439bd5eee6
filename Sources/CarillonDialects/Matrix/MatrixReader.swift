import CarillonCore

/// Reads events of Matrix rooms.
struct MatrixReader {
    let settings: DialectSettings
    let clock: SenderClock

    func event(_ json: JSONValue) -> DialectEvent {
        guard let id = json["event_id"]?.messageID, let room = Channel(json["room_id"]),
            let sender = Person(json["sender"])
        else { return .ignored("it has no usable event_id, room_id or sender") }
        let event = Event(
            sourceID: SourceID.of(.matrix, id),
            type: .messageSent,
            timestamp: clock.milliseconds(json["origin_server_ts"]),
            channel: room,
            actor: sender
        )
        let content = json["content"] ?? [:]
        let type = json["type"]?.text ?? ""
        // Whether there is a key, be it empty, tells what changes a room from what is said in it.
        guard let key = json["state_key"]?.text else { return said(type, content, event) }
        return changed(type, key, content, json, event)
    }

    // MARK: - What is said

    private func said(_ type: String, _ content: JSONValue, _ event: Event) -> DialectEvent {
        var event = event
        let id = String(event.sourceID.dropFirst(DialectName.matrix.rawValue.count + 1))
        // Also of what is encrypted this is not.
        guard content["m.relates_to"]?["rel_type"]?.text != "m.replace" else { return .ignored("it is an edit") }
        switch type {
        case "m.room.encrypted":
            guard !settings.isOn(MatrixDialect.ignoreEncrypted) else {
                return .ignored("encrypted messages are ignored")
            }
            event.message = Message(.string(id), type: "encrypted", text: nil)
        case "m.room.message":
            guard let kind = content["msgtype"]?.text else { return .ignored("the message has no msgtype") }
            guard kind != "m.notice" else { return .ignored("notices are from bots") }
            event.message = Message(.string(id), type: name(of: kind), text: content["body"]?.text)
            event.mentions = (content["m.mentions"]?["user_ids"]).elements.userIDs
            event.mentionsAll = (content["m.mentions"]?["room"]).isTrue
        default:
            return .ignored("\(type.shortened(toCharacters: 64, bytes: 256)) is nothing to notify of")
        }
        return .known(event)
    }

    private func name(of kind: String) -> String {
        switch kind {
        case "m.text", "m.emote": "text"
        default: kind.hasPrefix("m.") ? String(kind.dropFirst(2)) : kind
        }
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
        case "m.room.name":
            event.type = .channelUpdated
            event.channel?.displayName = content["name"]?.text?.beginning(ofBytes: Person.longestName) ?? ""
        case "m.room.tombstone":
            event.type = .channelDeleted
        case "m.room.member":
            return ofMember(key, content, json, event)
        default:
            return .ignored("\(type.shortened(toCharacters: 64, bytes: 256)) is nothing to notify of")
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
            return .ignored("the member has no usable id")
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
        default:
            return .ignored("an invitation or a knock makes nobody a member")
        }
        return .known(event)
    }
}
