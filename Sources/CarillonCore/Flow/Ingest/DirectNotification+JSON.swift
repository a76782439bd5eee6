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
        if !texts.byLocale.isEmpty {
            var languages = JSONObject()
            for (locale, text) in texts.byLocale.sorted(by: { $0.key < $1.key }) {
                languages[locale.rawValue] = .object(text.json)
            }
            json["texts"] = .object(languages)
        }
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

extension DirectTexts.Text {
    fileprivate var json: JSONObject {
        var json = JSONObject()
        json["title"] = title.map(JSONValue.string)
        json["body"] = body.map(JSONValue.string)
        return json
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
        var json = address.json(isShown: false)
        json["locale"] = locale.map(JSONValue.string)
        json["obtainedAt"] = obtainedAt.map { .string($0.description) }
        return json
    }
}

extension DeviceFilter {
    /// `nil` when it says nothing.
    fileprivate var json: JSONObject? {
        var json = JSONObject()
        json["providers"] = providers.map { .array($0.sorted().map { .string($0.rawValue) }) }
        json["appIds"] = appIDs.map { .array($0.sorted().map(JSONValue.string)) }
        json["tag"] = tag.map { .string($0.rawValue) }
        return json.isEmpty ? nil : json
    }
}
