import CarillonCore

/// What a network's admin says of an application of Ably's (FACES E1).
struct AblySettings: Sendable, Equatable {
    /// The app that tokens of Apple's belong to.
    var ios: AppleApp?
    /// The app that tokens of Google's belong to.
    var android: String?
    /// Whether push is on, by namespace; `*` is every other.
    var namespaces: [String: Bool] = [:]

    /// Reads the body of an admin; `nil` after noting what is wrong.
    init?(_ reader: inout JSONObjectReader) {
        guard let ios = reader.appleApp("ios"), let android = reader.app("android") else { return nil }
        (self.ios, self.android) = (ios, android)
        guard var namespaces = reader.object("namespaces") else { return }
        guard namespaces.keys.count <= 200 else {
            reader.refuse("namespaces", "must have at most 200 members")
            return nil
        }
        for name in namespaces.keys {
            guard name == "*" || ChannelID(name) != nil && !name.contains(where: { "*:[]".contains($0) }) else {
                namespaces.refuse(
                    name,
                    "must be *, or a namespace: what stands before the first colon of a channel's name"
                )
                return nil
            }
            guard var rule = namespaces.object(name, required: true) else { return nil }
            let push = rule.bool("push", required: true)
            rule.finish()
            guard let push else { return nil }
            self.namespaces[name] = push
        }
    }

    /// Takes what was checked before.
    init(stored document: JSONObject) {
        var reader = JSONObjectReader(.object(document), unknown: .tolerate, into: InputErrors())
        self = Self(&reader) ?? Self()
    }

    private init() {}

    var document: JSONObject {
        let rules = namespaces.sorted { $0.key < $1.key }
        return [
            "ios": ios?.json, "android": android.map { ["appId": .string($0)] },
            "namespaces": .object(JSONObject(rules.map { ($0.key, ["push": .bool($0.value)]) })),
        ]
    }

    /// Whether the application has devices there: where it is not known of which app they are, it may.
    func reaches(_ provider: ProviderName, appID: String?) -> Bool {
        switch provider {
        case .apns: ios.map { appID ?? $0.id == $0.id } ?? false
        case .fcm: android.map { appID ?? $0 == $0 } ?? false
        case .webpush: true
        default: false
        }
    }

    /// Whether what is published on a channel is pushed: off until somebody enables it.
    func pushIsOn(for channel: TagID) -> Bool {
        let namespace = String(channel.rawValue.prefix { $0 != ":" })
        return namespaces[namespace] ?? namespaces["*"] ?? false
    }
}

extension DeviceID {
    init(ablyDevice id: String) throws(AblyError) {
        guard let id = DeviceID(id) else { throw .device }
        self = id
    }
}

extension UserID {
    /// A client by its id; `*` is anybody, and nobody in particular.
    init(ablyClient id: String) throws(AblyError) {
        guard let user = UserID(id), !user.isReserved, id != "*" else { throw .client }
        self = user
    }
}

extension TagID {
    /// A channel by its name; what begins with a bracket or a colon is no channel that anybody could subscribe to.
    init(ablyChannel name: String) throws(AblyError) {
        guard let id = TagID(name), !name.hasPrefix("["), !name.hasPrefix(":") else { throw .channel }
        self = id
    }
}
