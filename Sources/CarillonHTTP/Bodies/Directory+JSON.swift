import CarillonCore

extension Person {
    var json: JSONValue {
        [
            "id": .string(id.rawValue),
            "displayName": JSONValue(displayName),
            "locale": JSONValue(locale),
            "roles": JSONValue(roles ?? []),
        ]
    }

    /// Reads what `PUT /users/{user}` takes.
    init(id: UserID, json: JSONValue) throws(InvalidInput) {
        self = try json.read(as: "invalid-user") { reader in
            Person(id: id, displayName: reader.displayName(), locale: reader.locale(), roles: reader.roles())
        }
    }
}

extension Channel {
    var json: JSONValue {
        [
            "id": .string(id.rawValue), "displayName": JSONValue(knownName.flatMap { $0.isEmpty ? nil : $0 }),
            "direct": .bool(isDirect ?? false),
        ]
    }

    /// Reads what `PUT /channels/{channel}` takes.
    init(id: ChannelID, json: JSONValue) throws(InvalidInput) {
        self = try json.read(as: "invalid-channel") { reader in
            Channel(id: id, displayName: reader.channelName(), isDirect: reader.bool("direct"))
        }
    }
}
