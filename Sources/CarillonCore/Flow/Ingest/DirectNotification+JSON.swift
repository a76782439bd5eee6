extension DirectNotification {
    /// The notification in the form in which it is posted (FACES section B1), without its id.
    ///
    /// - Parameters:
    ///   - channel: The channel that it belongs to.
    ///   - actor: Whom it is from.
    /// - Returns: The members of the object.
    func json(channel: ChannelID?, actor: UserID?) -> JSONObject {
        var json = content.json
        json["to"] = .object(audience.json)
        json["filter"] = filter.json.map(JSONValue.object)
        json["title"] = texts.text.title.map(JSONValue.string)
        json["body"] = texts.text.body.map(JSONValue.string)
        json["texts"] = texts.languages
        if case .members(channel) = audience {} else { json["channelId"] = channel.map { .string($0.rawValue) } }
        json["actorId"] = actor.map { .string($0.rawValue) }
        if module != .direct { json["module"] = .string(module.rawValue) }
        return json
    }
}

extension JSONObject {
    /// Puts the ids of devices in the place of the addresses by which this event, a direct notification, names them: where
    /// people are reached is told to no endpoint.
    package mutating func hideAddresses(of devices: [AddressedDevice]) {
        guard case .object(var data)? = self["data"], case .object(let audience)? = data["to"],
            audience.contains("addresses")
        else { return }
        data["to"] = ["deviceIds": .array(devices.map { .string(DeviceID(reachedAt: $0.address).rawValue) })]
        self["data"] = .object(data)
    }
}

extension DirectTexts {
    /// The texts by language; `nil` where no language has its own.
    var languages: JSONValue? {
        guard !byLocale.isEmpty else { return nil }
        let sorted = byLocale.sorted { $0.key < $1.key }
        return .object(JSONObject(sorted.map { ($0.key.rawValue, .object($0.value.json)) }))
    }
}

extension DirectTexts.Text {
    var json: JSONObject {
        ["title": title.map(JSONValue.string), "body": body.map(JSONValue.string)]
    }
}

extension Audience {
    fileprivate var json: JSONObject {
        switch self {
        case .nobody: JSONObject()
        case .members(let channel), .users(_, let channel): ["channelId": .string(channel.rawValue)]
        case .people(let users): ["userIds": .array(users.map { .string($0.rawValue) })]
        case .devices(let devices): ["deviceIds": .array(devices.map { .string($0.rawValue) })]
        case .tags(let tags): ["tags": .array(tags.map { .string($0.rawValue) })]
        case .everyone: ["everyone": true]
        case .addresses(let devices): ["addresses": .array(devices.map { .object($0.json) })]
        }
    }
}

extension AddressedDevice {
    fileprivate var json: JSONObject {
        JSONObject(
            joining: address.json(isShown: false),
            ["locale": locale.map(JSONValue.string), "obtainedAt": obtainedAt.map { JSONValue($0) }]
        )
    }
}

extension DeviceFilter {
    /// `nil` when it says nothing.
    fileprivate var json: JSONObject? {
        let json: JSONObject = [
            "providers": providers.map { JSONValue($0.sorted().map(\.rawValue)) },
            "appIds": appIDs.map { JSONValue($0.sorted()) },
            "tag": tag.map { .string($0.rawValue) },
        ]
        return json.isEmpty ? nil : json
    }
}
