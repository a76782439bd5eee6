import CarillonCore

/// Where something is reached, as Ably's clients write it (FACES E4).
struct AblyRecipient: Sendable {
    /// The same in Carillon's own words, and as Carillon's own API has it; what cannot be read in that form is refused there.
    private let written: DeviceAddress
    var address: JSONObject { written.json(isShown: false) }
    /// The members that mean something, as they were sent: clients compare them.
    let shown: JSONObject

    /// Reads a recipient.
    /// - Throws: 40000.
    init(_ recipient: JSONObject, _ settings: AblySettings) throws(AblyError) {
        let transport = try Self.text("transportType", of: recipient)
        switch transport {
        case "apns":
            guard let ios = settings.ios else {
                throw .malformed("no app of Apple's is set for this application: see ios of its binding")
            }
            let token = try Self.text("deviceToken", of: recipient)
            shown = ["transportType": "apns", "deviceToken": .string(token)]
            written = ios.address(of: token)
        case "fcm", "gcm":
            guard let android = settings.android else {
                throw .malformed("no app of Google's is set for this application: see android of its binding")
            }
            let token = try Self.text("registrationToken", of: recipient)
            shown = ["transportType": .string(transport), "registrationToken": .string(token)]
            written = .fcm(token: token, appID: android)
        case "web":
            let url = try Self.text("targetUrl", of: recipient)
            guard case .object(let keys)? = recipient["encryptionKey"] else {
                throw .malformed("recipient.encryptionKey must be an object")
            }
            let (point, secret) = (try Self.text("p256dh", of: keys), try Self.text("auth", of: keys))
            var shown: JSONObject = [
                "transportType": "web", "targetUrl": .string(url),
                "encryptionKey": ["p256dh": .string(point), "auth": .string(secret)],
            ]
            if recipient.contains("publicVapidKey"), recipient["publicVapidKey"] != .some(.null) {
                shown["publicVapidKey"] = .string(try Self.text("publicVapidKey", of: recipient))
            }
            self.shown = shown
            // Browsers' SDKs send the URL in base64, and the keys in the alphabet that is not for URLs.
            let isURL = url.hasPrefix("https://") || url.hasPrefix("http://")
            written = .webpush(
                endpoint: isURL ? url : Base64URL.text(url) ?? url,
                p256dh: Self.forURLs(point),
                auth: Self.forURLs(secret)
            )
        default: throw .malformed("recipient.transportType must be apns, fcm or web")
        }
    }

    /// The address of a device that is registered, and whether it can be sent to: what is no token of Apple's is kept all the same.
    func registered(_ reader: DeviceAddressReader) throws(AblyError) -> (address: DeviceAddress, isUsable: Bool) {
        let errors = InputErrors()
        var members = JSONObjectReader(.object(address), unknown: .tolerate, into: errors)
        if let address = reader.address(from: &members) { return (address, true) }
        guard written.provider == .apns, !written.text.unicodeScalars.contains(where: \.isControl) else {
            throw .malformed("recipient: \(errors.errors.first?.detail ?? "is not valid")")
        }
        return (written, false)
    }

    /// How a device is reached whose recipient nobody wrote in Ably's form; `nil` for what Ably has no name for.
    static func shown(_ address: DeviceAddress) -> JSONObject? {
        switch address.provider {
        case .apns: ["transportType": "apns", "deviceToken": .string(address.text)]
        case .fcm: ["transportType": "fcm", "registrationToken": .string(address.text)]
        case .webpush:
            address.keys.map {
                [
                    "transportType": "web", "targetUrl": .string(address.text),
                    "encryptionKey": ["p256dh": .string($0.p256dh), "auth": .string($0.auth)],
                ]
            }
        default: nil
        }
    }

    private static func text(_ key: String, of object: JSONObject) throws(AblyError) -> String {
        guard case .string(let text)? = object[key], !text.isEmpty, text.utf8.count <= 4_096 else {
            throw .malformed("recipient.\(key) must be a string of 1 to 4096 bytes")
        }
        return text
    }

    private static func forURLs(_ text: String) -> String {
        Base64URL.decodeEither(text).map { Base64URL.encode($0) } ?? text
    }
}
