import Crypto

/// Reads where a device is reached (API section 6), each provider by its own rules.
package struct DeviceAddressReader: Sendable {
    private static let maximumTokenBytes = 4096
    private static let maximumAPNsTokenDigits = 200
    private static let authSecretBytes = 16

    /// Where devices may be reached.
    private let egress: EgressGuard
    /// Which push services its subscription may name.
    private let webPushHosts: WebPushHosts

    /// A reader that refuses what `egress` and `webPushHosts` do.
    package init(egress: EgressGuard, webPushHosts: WebPushHosts) {
        self.egress = egress
        self.webPushHosts = webPushHosts
    }

    /// A reader of what was checked when it came in.
    static let trusting = DeviceAddressReader(egress: .unrestricted, webPushHosts: .any)

    /// Reads the members that say where a device is reached; `nil` after noting what is wrong.
    ///
    /// Whether there are unknown members is left to the caller to find.
    package func address(from reader: inout JSONObjectReader) -> DeviceAddress? {
        guard let provider = reader.choice("provider", as: ProviderName.self, required: true) else {
            // What else belongs here depends on the provider: do not call it unknown.
            for key in reader.keys { _ = reader.value(key) }
            return nil
        }
        return address(provider, from: &reader)
    }

    private func address(_ provider: ProviderName, from reader: inout JSONObjectReader) -> DeviceAddress? {
        switch provider {
        case .log: return .log
        case .webhook: return url("url", from: &reader).map { .webhook(url: $0) }
        case .fcm:
            let token = token(from: &reader)
            let appID = appID(from: &reader)
            guard let token, let appID else { return nil }
            return .fcm(token: token, appID: appID)
        case .apns:
            let token = apnsToken(from: &reader)
            let appID = appID(from: &reader)
            let environment = reader.choice("environment", as: DeviceAddress.APNsEnvironment.self, required: true)
            guard let token, let appID, let environment else { return nil }
            return .apns(token: token, appID: appID, environment: environment)
        case .webpush: return subscription(from: &reader)
        case .relay:
            reader.refuse("provider", "must be one of " + ProviderName.allCases.map(\.rawValue).joined(separator: ", "))
            return nil
        }
    }

    private func token(from reader: inout JSONObjectReader) -> String? {
        guard
            let token = reader.string(
                "token",
                required: true,
                maximumBytes: Self.maximumTokenBytes,
                nonEmpty: true
            )
        else { return nil }
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            reader.refuse("token", "must be printable ASCII without spaces")
            return nil
        }
        return token
    }

    /// Apple's tokens are hexadecimal in either case: two spellings are one token.
    private func apnsToken(from reader: inout JSONObjectReader) -> String? {
        guard let token = reader.string("token", required: true, maximumBytes: Self.maximumTokenBytes) else {
            return nil
        }
        guard (1...Self.maximumAPNsTokenDigits).contains(token.utf8.count), token.utf8.allSatisfy(\.isHexDigit) else {
            reader.refuse("token", "must be 1 to \(Self.maximumAPNsTokenDigits) hexadecimal digits")
            return nil
        }
        return token.lowercased()
    }

    private func appID(from reader: inout JSONObjectReader) -> String? {
        reader.identifier("appId", as: DeviceAddress.self, required: true)?.rawValue
    }

    private func subscription(from reader: inout JSONObjectReader) -> DeviceAddress? {
        guard var subscription = reader.object("subscription", required: true) else { return nil }
        // RFC 8030 section 3: push services are reached through TLS only. On this machine there are only fakes of them.
        let endpoint = url("endpoint", from: &subscription, at: webPushHosts)
        // Browsers write it; it says nothing that the push service would not.
        _ = subscription.value("expirationTime")
        var point: String?
        var secret: String?
        if var keys = subscription.object("keys", required: true) {
            point = bytes("p256dh", from: &keys, "must be a point of P-256 in base64url") { bytes in
                (try? P256.KeyAgreement.PublicKey(x963Representation: bytes)) != nil && bytes.count == 65
            }
            secret = bytes("auth", from: &keys, "must be \(Self.authSecretBytes) bytes in base64url") {
                $0.count == Self.authSecretBytes
            }
            keys.finish()
        }
        subscription.finish()
        guard let endpoint, let point, let secret else { return nil }
        return .webpush(endpoint: endpoint, p256dh: point, auth: secret)
    }

    /// Base64url without padding; padding is dropped.
    private func bytes(
        _ key: String,
        from reader: inout JSONObjectReader,
        _ rule: String,
        where isRight: ([UInt8]) -> Bool
    ) -> String? {
        guard var text = reader.string(key, required: true, maximumBytes: 256) else { return nil }
        while text.utf8.last == UInt8(ascii: "=") { text.removeLast() }
        guard let bytes = Base64URL.decode(text.utf8), isRight(bytes) else {
            reader.refuse(key, rule)
            return nil
        }
        return text
    }

    /// An absolute URL that a POST can be sent to, as far as it can be seen; of one of `hosts`, and confidentially, where
    /// they are given. Where a name leads is checked when it is used: names change.
    private func url(
        _ key: String,
        from reader: inout JSONObjectReader,
        at hosts: WebPushHosts? = nil
    ) -> String? {
        guard let text = reader.string(key, required: true, maximumBytes: OutboundURL.maximumBytes) else { return nil }
        do throws(EgressRefusal) {
            let url = try egress.check(text)
            guard url.isConfidential || hosts == nil else {
                reader.refuse(key, "must be an https URL")
                return nil
            }
            guard hosts?.allow(url.host) ?? true else {
                reader.refuse(key, "must be of a push service that the network's webPushHosts name")
                return nil
            }
        } catch {
            reader.refuse(key, error.detail)
            return nil
        }
        guard !text.contains("#") else {
            reader.refuse(key, "must not have a fragment")
            return nil
        }
        return text
    }
}
