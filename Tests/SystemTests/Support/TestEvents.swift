import CarillonCore

/// Events as a chat backend posts them; Alice does everything in the channel `general`.
enum TestEvents {
    static func channelCreated(_ id: String, members: [String]) -> JSONValue {
        event(id, "channel.created", "members", .array(members.map { ["id": .string($0)] }))
    }

    static func memberJoined(_ id: String, _ member: String) -> JSONValue {
        event(id, "member.joined", "members", [["id": .string(member)]])
    }

    static func messageSent(_ id: String, text: String = "Hello") -> JSONValue {
        event(id, "message.sent", "message", ["id": .string(id), "type": "text", "text": .string(text)])
    }

    private static func event(_ id: String, _ type: String, _ name: String, _ value: JSONValue) -> JSONValue {
        var data = JSONObject()
        data["channel"] = ["id": "general", "displayName": "General"]
        data["user"] = ["id": "alice", "displayName": "Alice"]
        data[name] = value
        return ["id": .string(id), "type": .string(type), "data": .object(data)]
    }
}
