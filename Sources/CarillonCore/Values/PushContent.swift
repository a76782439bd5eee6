/// What a notification carries beyond title and body: one wish for all push services, and a raw part for each.
package struct PushContent: Sendable, Equatable {
    /// What happens on the device.
    package enum Kind: String, Sendable, CaseIterable {
        case alert
        /// The app is woken, and nothing is shown.
        case silent
        /// Something is shown, and the app is woken.
        case mixed
    }

    package enum Priority: String, Sendable, CaseIterable {
        /// At once.
        case high
        /// When it suits the device's battery.
        case normal
        case low
    }

    package enum Sound: Sendable, Equatable {
        case standard
        case none
        /// A sound of the app.
        case named(String)
    }

    /// What happens on the device, unless a raw part says otherwise for its push service.
    package var kind: Kind
    package var data: JSONObject
    package var badge: Int?
    package var sound: Sound
    /// The set of actions that the app offers with it.
    package var category: String?
    /// What it is shown together with; otherwise the channel.
    package var threadID: String?
    /// A later notification with the same key replaces it.
    package var collapseKey: String?
    package var imageURL: String?
    /// How much it matters, where somebody said so; `high` otherwise.
    package var priority: Priority?
    /// How many seconds push services keep it for a device that cannot be reached.
    package var timeToLive: Int
    package var isRetried: Bool
    /// Whether payloads carry Carillon's own keys, such as `eventId`.
    package var hasEnvelope: Bool
    /// What single push services get in place of, or beyond, what is built for them: `apns`, `fcm`, `webpush`.
    package var parts: [ProviderName: RawPart]

    /// The longest life of a notification, in seconds: what FCM and browsers' push services take.
    package static let longestTimeToLive = 2_419_200
    package static let largestBadge = 99_999
    /// The longest name of a sound, in bytes.
    package static let longestSound = 64
    /// A day, in seconds.
    package static let usualTimeToLive = 86_400

    /// Content that says nothing beyond title and body.
    package init(
        kind: Kind = .alert,
        data: JSONObject = JSONObject(),
        badge: Int? = nil,
        sound: Sound = .standard,
        category: String? = nil,
        threadID: String? = nil,
        collapseKey: String? = nil,
        imageURL: String? = nil,
        priority: Priority? = nil,
        timeToLive: Int = usualTimeToLive,
        isRetried: Bool = true,
        hasEnvelope: Bool = true,
        parts: [ProviderName: RawPart] = [:]
    ) {
        self.kind = kind
        self.data = data
        self.badge = badge
        self.sound = sound
        self.category = category
        self.threadID = threadID
        self.collapseKey = collapseKey
        self.imageURL = imageURL
        self.priority = priority
        self.timeToLive = timeToLive
        self.isRetried = isRetried
        self.hasEnvelope = hasEnvelope
        self.parts = parts
    }

    /// How long it is tried to hand it to push services: as long as these are to keep it, but at most a day, and never so
    /// short that a busy moment would end it.
    package var lifetime: Duration { .seconds(min(max(timeToLive, 30), Self.usualTimeToLive)) }

    package func kind(for provider: ProviderName) -> Kind { parts[provider]?.kind ?? kind }

    /// Whether some device shows something where there are no words.
    var isShownWithoutWords: Bool {
        parts.contains { provider, part in kind(for: provider) != .silent && provider.kind.rawPart.shows(part) }
    }

    /// Whether a push service has a use for it: what is silent goes to one that would not let it be so only where somebody wrote what
    /// to send.
    package func isSent(through provider: ProviderName) -> Bool {
        kind != .silent || provider.kind.takesSilent || parts[provider] != nil
    }
}

/// What somebody wrote for one push service.
package struct RawPart: Sendable, Equatable {
    /// What happens on its devices; `nil` for what is said of all.
    package var kind: PushContent.Kind?
    /// Headers by their lower-case names, in place of those that are built.
    package var headers: [String: String]
    /// A merge patch for what is built, or all of it. `{"$text":"title"}` and `{"$text":"body"}` stand for the text.
    package var payload: JSONObject
    /// Whether nothing is built.
    package var replaces: Bool

    package init(
        kind: PushContent.Kind? = nil,
        headers: [String: String] = [:],
        payload: JSONObject = JSONObject(),
        replaces: Bool = false
    ) {
        self.kind = kind
        self.headers = headers
        self.payload = payload
        self.replaces = replaces
    }
}
