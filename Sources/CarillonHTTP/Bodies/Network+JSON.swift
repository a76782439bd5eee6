import CarillonCore

extension Network {
    /// The network as the API shows it, with defaults filled in.
    var json: JSONValue { json(in: nil) }

    /// The network as the list of all shows it, with its state.
    func json(in state: NetworkState?) -> JSONValue {
        [
            "id": .string(id.rawValue),
            "displayName": JSONValue(displayName),
            "defaultLocale": .string(defaultLocale ?? LocaleTag.english.rawValue),
            "deviceRegistration": .string(deviceRegistration.rawValue),
            "webPushHosts": JSONValue(webPushHosts.patterns),
            "userTokenMaxLifetimeSeconds": JSONValue(Int(userTokenMaxLifetime.components.seconds)),
            "limits": limits.json,
            "createdAt": JSONValue(createdAt),
            "placement": placement.map { .string($0.rawValue) },
            "state": state.map { .string($0.rawValue) },
        ]
    }

    /// Takes over what a merge patch (RFC 7396) names, or the description of a new network: `null` stands for the default.
    mutating func merge(_ reader: inout JSONObjectReader) {
        let (name, locale) = (reader.displayName(), reader.locale("defaultLocale"))
        if reader.contains("displayName") { displayName = name }
        if reader.contains("defaultLocale") { defaultLocale = locale }
        if reader.contains("deviceRegistration") {
            deviceRegistration = reader.choice("deviceRegistration", as: DeviceRegistrationProof.self) ?? .userToken
        }
        if reader.contains("webPushHosts") { webPushHosts = reader.webPushHosts() ?? WebPushHosts() }
        if reader.contains("userTokenMaxLifetimeSeconds") {
            userTokenMaxLifetime =
                reader.integer("userTokenMaxLifetimeSeconds", in: 60...315_360_000).map { Duration.seconds($0) }
                ?? Self.defaultUserTokenMaxLifetime
        }
        guard reader.contains("limits") else { return }
        guard var members = reader.object("limits") else {
            limits = NetworkLimits()
            return
        }
        limits.merge(&members)
        members.finish()
    }
}

extension JSONObjectReader {
    /// Where a network is to be kept.
    mutating func placement(_ key: String = "placement", required: Bool = false) -> PlacementName? {
        guard let text = string(key, required: required) else { return nil }
        guard let name = PlacementName(text) else {
            refuse(key, "must be the name of a placement: lower-case letters, digits and hyphens, 32 at most")
            return nil
        }
        return name
    }

    fileprivate mutating func webPushHosts() -> WebPushHosts? {
        guard let texts = strings("webPushHosts", maximumCount: WebPushHosts.maximumCount, maximumBytes: 255) else {
            return nil
        }
        var patterns: [String] = []
        for (index, text) in texts.enumerated() {
            guard let pattern = WebPushHosts.pattern(text) else {
                refuse("webPushHosts", "element \(index) must be default, *, a host, or *. and a host, without a port")
                return nil
            }
            if !patterns.contains(pattern) { patterns.append(pattern) }
        }
        return WebPushHosts(patterns)
    }
}
