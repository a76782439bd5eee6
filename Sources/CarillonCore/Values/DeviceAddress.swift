import Crypto

/// Where a device is reached. Tokens, endpoints and URLs identify people: never logged.
package struct DeviceAddress: Sendable, Hashable {
    /// Apple's two separate worlds of tokens.
    package enum APNsEnvironment: String, Sendable, CaseIterable {
        /// Apps from the App Store and TestFlight.
        case production
        /// Apps started from Xcode.
        case sandbox
    }

    package let provider: ProviderName
    /// What says where it is, apart from what belongs to it: a token or a URL; nothing for standard output.
    package let text: String
    /// What is sent to apart from the provider's other devices: the app whose credential is needed, or the server.
    ///
    /// Webhooks and browsers' push services are many servers, so that a slow one must delay only its own devices.
    package let appID: String
    private let keyTexts: [String]
    /// The world that the token is of, where there are two.
    package let environment: APNsEnvironment?

    /// An address by its parts, which were checked before; without an app it is the server's where that makes lanes.
    package init(
        _ provider: ProviderName,
        _ text: String = "",
        appID: String? = nil,
        environment: APNsEnvironment? = nil,
        keys: (p256dh: String, auth: String)? = nil
    ) {
        self.provider = provider
        self.text = text
        self.appID = appID ?? (provider.kind.lanes == .byHost ? Self.authority(of: text) : "")
        self.environment = environment
        keyTexts = keys.map { [$0.p256dh, $0.auth] } ?? []
    }

    /// What is encrypted for it with, in base64url (RFC 8291), where that is done.
    package var keys: (p256dh: String, auth: String)? { keyTexts.isEmpty ? nil : (keyTexts[0], keyTexts[1]) }

    /// SHA-256 of provider and ``text``, Apple's tokens in small letters. A token alone decides: with another app or environment it
    /// still reaches the same installation.
    package var digest: [UInt8] {
        let text = provider.kind.ignoresCase ? text.lowercased() : text
        return Array(SHA256.hash(data: Array("\(provider.rawValue):\(text)".utf8)))
    }

    /// Its members in JSON; with `isShown` no more of a token than its end.
    package func json(isShown: Bool) -> JSONObject {
        var json: JSONObject = ["provider": .string(provider.rawValue)]
        provider.kind.address.write(self, isShown, &json)
        return json
    }

    /// Host and port of a URL that was checked before; at most 255 bytes.
    private static func authority(of url: String) -> String {
        let rest = url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return String(Substring(rest[..<(end ?? rest.endIndex)]).prefix(255)).lowercased()
    }
}
