import CarillonCore

/// Where something is reached, as Ably's clients write it (FACES E4).
struct AblyRecipient: Sendable {
    /// The same, in the form of Carillon's own API; what cannot be read in that form is refused there.
    let address: JSONObject
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
            address = [
                "provider": "apns", "token": .string(token), "appId": .string(ios.appID),
                "environment": .string(ios.environment.rawValue),
            ]
        case "fcm", "gcm":
            guard let android = settings.android else {
                throw .malformed("no app of Google's is set for this application: see android of its binding")
            }
            let token = try Self.text("registrationToken", of: recipient)
            shown = ["transportType": .string(transport), "registrationToken": .string(token)]
            address = ["provider": "fcm", "token": .string(token), "appId": .string(android)]
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
            address = [
                "provider": "webpush",
                "subscription": [
                    "endpoint": .string(isURL ? url : Base64URL.text(url) ?? url),
                    "keys": ["p256dh": .string(Self.forURLs(point)), "auth": .string(Self.forURLs(secret))],
                ],
            ]
        default: throw .malformed("recipient.transportType must be apns, fcm or web")
        }
    }

    /// The address of a device that is registered, and whether it can be sent to: what is no token of Apple's is kept all the same.
    func registered(_ reader: DeviceAddressReader) throws(AblyError) -> (address: DeviceAddress, isUsable: Bool) {
        let errors = InputErrors()
        var members = JSONObjectReader(.object(address), unknown: .tolerate, into: errors)
        if let address = reader.address(from: &members) { return (address, true) }
        guard case .string(let token)? = address["token"], address["provider"] == "apns",
            case .string(let appID)? = address["appId"], token.utf8.count <= 4_096,
            !token.unicodeScalars.contains(where: \.isControl),
            case .string(let name)? = address["environment"],
            let environment = DeviceAddress.APNsEnvironment(rawValue: name)
        else { throw .malformed("recipient: \(errors.errors.first?.detail ?? "is not valid")") }
        return (.apns(token: token, appID: appID, environment: environment), false)
    }

    /// How a device is reached whose recipient nobody wrote in Ably's form; `nil` for what Ably has no name for.
    static func shown(_ address: DeviceAddress) -> JSONObject? {
        switch address {
        case .apns(let token, _, _): ["transportType": "apns", "deviceToken": .string(token)]
        case .fcm(let token, _): ["transportType": "fcm", "registrationToken": .string(token)]
        case .webpush(let endpoint, let point, let secret):
            [
                "transportType": "web", "targetUrl": .string(endpoint),
                "encryptionKey": ["p256dh": .string(point), "auth": .string(secret)],
            ]
        case .log, .webhook: nil
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
