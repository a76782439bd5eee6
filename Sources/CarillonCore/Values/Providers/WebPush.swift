import Crypto

extension ProviderName {
    /// A browser's push service (RFC 8030).
    package static let webpush = ProviderName(
        ProviderKind(
            name: "webpush",
            address: .subscription,
            lanes: .byHost,
            takesSilent: false,
            rawPart: RawPartForm(
                headers: [
                    "ttl": .number, "urgency": .oneOf(["very-low", "low", "normal", "high"]),
                    "topic": .base64URL(maximum: 32),
                ],
                visible: [["title"], ["body"], ["notification"]],
                isShownByApps: true
            )
        )
    )
}

extension DeviceAddress {
    /// A browser's subscription: endpoint and keys in base64url (RFC 8291).
    package static func webpush(endpoint: String, p256dh: String, auth: String) -> DeviceAddress {
        DeviceAddress(.webpush, endpoint, keys: (p256dh, auth))
    }
}

extension AddressForm {
    private static let authSecretBytes = 16

    /// `subscription`, as browsers write it.
    fileprivate static let subscription = AddressForm { provider, reader, addresses in
        guard var subscription = reader.object("subscription", required: true) else { return nil }
        // RFC 8030 section 3: push services are reached through TLS only. On this machine there are only fakes of them.
        let endpoint = addresses.url("endpoint", from: &subscription, at: addresses.webPushHosts)
        // Browsers write it; it says nothing that the push service would not.
        _ = subscription.value("expirationTime")
        var point: String?
        var secret: String?
        if var keys = subscription.object("keys", required: true) {
            point = keys.base64URL("p256dh", "must be a point of P-256 in base64url") { bytes in
                (try? P256.KeyAgreement.PublicKey(x963Representation: bytes)) != nil && bytes.count == 65
            }
            secret = keys.base64URL("auth", "must be \(authSecretBytes) bytes in base64url") {
                $0.count == authSecretBytes
            }
            keys.finish()
        }
        subscription.finish()
        guard let endpoint, let point, let secret else { return nil }
        return DeviceAddress(provider, endpoint, keys: (point, secret))
    } write: { address, isShown, json in
        var subscription: JSONObject = ["endpoint": .string(isShown ? address.textEnd : address.text)]
        if !isShown, let keys = address.keys {
            subscription["keys"] = ["p256dh": .string(keys.p256dh), "auth": .string(keys.auth)]
        }
        json["subscription"] = .object(subscription)
    }
}

extension JSONObjectReader {
    /// Base64url without padding; padding is dropped.
    fileprivate mutating func base64URL(_ key: String, _ rule: String, where isRight: ([UInt8]) -> Bool) -> String? {
        guard var text = string(key, required: true, maximumBytes: 256) else { return nil }
        while text.utf8.last == UInt8(ascii: "=") { text.removeLast() }
        guard let bytes = Base64URL.decode(text.utf8), isRight(bytes) else {
            refuse(key, rule)
            return nil
        }
        return text
    }
}
