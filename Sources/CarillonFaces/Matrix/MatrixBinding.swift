import CarillonCore

/// What an admin said of an app id (FACES section D1).
struct MatrixBinding: Sendable, Equatable {
    /// How a push service's token is written in a pushkey.
    enum PushkeyFormat: String, Sendable, CaseIterable {
        /// 64 digits or more, an even number of them, are hexadecimal; everything else is Base64.
        case auto
        /// Base64, as most apps for iOS do.
        case base64
        case hex
    }

    enum PayloadForm: String, Sendable, CaseIterable {
        /// Buzz's keys beside the text.
        case buzz
        /// What apps get that were built for Sygnal.
        case sygnal
        /// Title and body by the template of messages.
        case text
    }

    enum PushType: String, Sendable, CaseIterable {
        case alert
        case background
    }

    /// The push service; `nil` only for an app that is retired.
    var provider: ProviderName?
    /// The credential's app; `nil` for the app id itself.
    var appID: String?
    var environment = DeviceAddress.APNsEnvironment.production
    var pushkeyFormat = PushkeyFormat.auto
    var payload = PayloadForm.sygnal
    var showsBadge = true
    /// Whether the sound is sent that the user's rules ask for.
    var playsSound = false
    var pushType = PushType.alert
    var timeToLive = PushContent.usualTimeToLive
    /// Whether the app is gone, so that homeservers forget its pushkeys.
    var isRetired = false
    /// The push services that a browser's subscription may name; `nil` for those that the network names.
    var allowedEndpoints: WebPushHosts?
    /// Whether only those who have a gateway key may name the app.
    var isKeyRequired = false
    /// Where requests may come from; `nil` for anywhere.
    var allowedSources: [CIDRBlock]?
    /// How many requests a second are taken of those who have a gateway key, or are where requests may come from.
    var requestsPerSecond = 2_000

    func admits(_ address: IPAddress?) -> Bool {
        guard let allowedSources else { return true }
        guard let canonical = address?.canonical else { return false }
        return allowedSources.contains { $0.contains(canonical) }
    }
}

extension MatrixBinding {
    private static let providers: [ProviderName] = [.apns, .fcm, .webpush]
    private static let maximumSources = 100
    private static let requestRates = 1...100_000

    /// Reads what an admin says; what is wrong is noted.
    init(_ reader: inout JSONObjectReader) {
        let isRetired = reader.bool("retired") ?? false
        let name = reader.string("provider", required: !isRetired)
        self.init(provider: name.flatMap { name in Self.providers.first { $0.rawValue == name } })
        if name != nil, provider == nil {
            reader.refuse("provider", "must be one of " + Self.providers.map(\.rawValue).joined(separator: ", "))
        }
        self.isRetired = isRetired
        appID = reader.identifier("appId", as: DeviceAddress.self)?.rawValue
        environment = reader.choice("environment", as: DeviceAddress.APNsEnvironment.self) ?? environment
        pushkeyFormat = reader.choice("pushkeyFormat", as: PushkeyFormat.self) ?? pushkeyFormat
        payload = reader.choice("payload", as: PayloadForm.self) ?? payload
        showsBadge = reader.bool("badge") ?? showsBadge
        playsSound = reader.bool("sound") ?? playsSound
        pushType = reader.choice("pushType", as: PushType.self) ?? pushType
        timeToLive = reader.integer("ttlSeconds", in: 0...PushContent.longestTimeToLive) ?? timeToLive
        isKeyRequired = reader.bool("gatewayKeyRequired") ?? isKeyRequired
        if let patterns = reader.strings("allowedEndpoints", maximumCount: WebPushHosts.maximumCount) {
            let read = patterns.map(WebPushHosts.pattern)
            for (index, pattern) in read.enumerated() where pattern == nil {
                reader.refuse("allowedEndpoints", at: index, "must be a host, *. and a host, * or default")
            }
            allowedEndpoints = WebPushHosts(read.compactMap(\.self))
        }
        if let blocks = reader.strings("allowFrom", maximumCount: Self.maximumSources) {
            let read = blocks.map { try? CIDRBlock($0) }
            for (index, block) in read.enumerated() where block == nil {
                reader.refuse("allowFrom", at: index, "must be a block of addresses such as 203.0.113.0/24")
            }
            allowedSources = read.compactMap(\.self)
        }
        requestsPerSecond = reader.integer("requestsPerSecond", in: Self.requestRates) ?? requestsPerSecond
    }

    init(stored: JSONObject) {
        var reader = JSONObjectReader(.object(stored), unknown: .tolerate, into: InputErrors())
        self.init(&reader)
    }

    /// The settings as they are stored and shown, with what holds where nothing was said.
    var document: JSONObject {
        let isApple = provider == .apns
        return [
            "provider": provider.map { .string($0.rawValue) }, "appId": appID.map(JSONValue.string),
            "environment": isApple ? .string(environment.rawValue) : nil,
            "pushkeyFormat": isApple ? .string(pushkeyFormat.rawValue) : nil,
            "pushType": isApple ? .string(pushType.rawValue) : nil,
            "allowedEndpoints": allowedEndpoints.map { JSONValue($0.patterns) },
            "payload": .string(payload.rawValue), "badge": .bool(showsBadge), "sound": .bool(playsSound),
            "ttlSeconds": JSONValue(timeToLive), "retired": .bool(isRetired),
            "gatewayKeyRequired": .bool(isKeyRequired),
            "allowFrom": allowedSources.map { JSONValue($0.map(\.description)) },
            "requestsPerSecond": JSONValue(requestsPerSecond),
        ]
    }
}
