import Crypto

/// One address of a user: where a provider can reach them (API section 6).
package struct Device: Sendable, Equatable {
    /// The id that the app chose for this installation.
    package var id: DeviceID
    /// The user who gets what is sent here; ``Identifier/nobody`` where nobody does.
    package var userID: UserID
    /// Where and by which push service it is reached.
    package var address: DeviceAddress
    /// The language of this device, a BCP 47 tag; goes before the user's.
    package var locale: String?
    /// Whether it is used.
    package var state: DeviceState
    /// What its provider last complained of.
    package var error: String?
    /// When it was last registered: a provider's older report of its death is ignored.
    package var registeredAt: Timestamp
    /// When its address was obtained, where its registration does not tell; ``Timestamp/epoch`` where nobody knows, so that each
    /// report of its death is believed.
    package var obtainedAt: Timestamp?
    /// Whether it gets what is sent to everyone.
    package var broadcasts: Bool
    /// What other systems' APIs keep with it, and nobody else reads; a few kilobytes.
    package var attributes: JSONObject?
    /// SHA-256 of the installation's own secret: a registration with the same one is the same installation's, whoever uses it.
    package var secretHash: [UInt8]?

    package init(
        id: DeviceID,
        userID: UserID,
        address: DeviceAddress,
        locale: String? = nil,
        state: DeviceState = .active,
        error: String? = nil,
        registeredAt: Timestamp,
        obtainedAt: Timestamp? = nil,
        broadcasts: Bool = true,
        attributes: JSONObject? = nil,
        secretHash: [UInt8]? = nil
    ) {
        self.id = id
        self.userID = userID
        self.address = address
        self.locale = locale
        self.state = state
        self.error = error
        self.registeredAt = registeredAt
        self.obtainedAt = obtainedAt
        self.broadcasts = broadcasts
        self.attributes = attributes
        self.secretHash = secretHash
    }
}

extension DeviceID {
    /// The id of a device that nobody registered: `t-` and the SHA-256 of provider and address in base64url.
    ///
    /// Nobody else may have an id of that form: see ``isOfAddress``.
    package init(reachedAt address: DeviceAddress) {
        self.init(trusted: Self.addressPrefix + Base64URL.encode(address.digest))
    }

    private static let addressPrefix = "t-"

    /// Whether it has the form of an id that is made of an address.
    package var isOfAddress: Bool {
        rawValue.hasPrefix(Self.addressPrefix)
            && Base64URL.decode(rawValue.utf8.dropFirst(Self.addressPrefix.utf8.count))?.count == SHA256.byteCount
    }
}

/// Whether a device is sent to.
package enum DeviceState: String, Sendable, CaseIterable {
    /// It is sent to.
    case active
    /// Its provider refused it for a reason that may be ours: kept, not sent to.
    case quarantined
    /// Its provider says that it is gone.
    case unregistered
}

/// The name of a provider: our adapter for one push service, or for endpoints.
package enum ProviderName: String, Sendable, CaseIterable, Hashable, Comparable {
    /// Those that devices are reached by.
    package static let allCases: [ProviderName] = [.apns, .fcm, .log, .webhook, .webpush]

    /// Apple Push Notification service.
    case apns
    /// Firebase Cloud Messaging.
    case fcm
    /// A line on standard output, to see the pipeline work.
    case log
    /// A signed POST to a URL.
    case webhook
    /// A browser's push service (RFC 8030).
    case webpush
    /// A signed POST to an endpoint, which is no device.
    case relay

    /// Alphabetical, for stable lists.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Where a device is reached, by provider. Tokens, endpoints and URLs identify people: never logged.
package enum DeviceAddress: Sendable, Hashable {
    /// Apple's two separate worlds of tokens.
    package enum APNsEnvironment: String, Sendable, CaseIterable {
        /// Apps from the App Store and TestFlight.
        case production
        /// Apps started from Xcode.
        case sandbox
    }

    /// An APNs device token (hexadecimal) of an app (its bundle id).
    case apns(token: String, appID: String, environment: APNsEnvironment)
    /// An FCM registration token of an app.
    case fcm(token: String, appID: String)
    /// A line on standard output.
    case log
    /// A URL that takes signed POSTs.
    case webhook(url: String)
    /// A browser's subscription: endpoint and keys in base64url (RFC 8291).
    case webpush(endpoint: String, p256dh: String, auth: String)

    /// Which provider sends to it.
    package var provider: ProviderName {
        switch self {
        case .apns: .apns
        case .fcm: .fcm
        case .log: .log
        case .webhook: .webhook
        case .webpush: .webpush
        }
    }

    /// What is sent to apart from the provider's other devices: the app whose credential is needed, or the server.
    ///
    /// Webhooks and browsers' push services are many servers, so that a slow one must delay only its own devices.
    package var appID: String {
        switch self {
        case .apns(_, let appID, _), .fcm(_, let appID): appID
        case .log: ""
        case .webhook(let url): Self.authority(of: url)
        case .webpush(let endpoint, _, _): Self.authority(of: endpoint)
        }
    }

    /// What says where it is, apart from what belongs to it: a token or a URL; nothing for standard output.
    package var text: String {
        switch self {
        case .apns(let token, _, _), .fcm(let token, _): token
        case .log: ""
        case .webhook(let url): url
        case .webpush(let endpoint, _, _): endpoint
        }
    }

    /// SHA-256 of provider and ``text``, Apple's tokens in small letters. A token alone decides: with another app or environment it
    /// still reaches the same installation.
    package var digest: [UInt8] {
        let text = provider == .apns ? text.lowercased() : text
        return Array(SHA256.hash(data: Array("\(provider.rawValue):\(text)".utf8)))
    }

    /// Host and port of a URL that was checked before; at most 255 bytes.
    private static func authority(of url: String) -> String {
        let rest = url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return String(Substring(rest[..<(end ?? rest.endIndex)]).prefix(255)).lowercased()
    }
}
