import CarillonCore
import CarillonEdge

/// Reads what apps say of their devices: as tolerantly as Amity does, apart from what would lead nowhere.
enum AmityRegistration {
    /// The longest id of a device, in characters.
    static let longestDeviceID = 150
    /// The longest token, in bytes.
    static let longestToken = 1_000
    /// The longest of Apple's tokens, in hexadecimal digits.
    static let longestAppleToken = 400

    private enum Platform: String, CaseIterable {
        case ios
        case android
    }

    private enum Service: String, CaseIterable {
        case apns
        case fcm
        case baidu
    }

    /// Reads a body. Where the token of its `owner` is enough, it need name neither them nor the device, which is known by its address
    /// without a name.
    static func device(
        _ body: JSONValue,
        _ settings: AmitySettings,
        of owner: UserID? = nil,
        registeredAt now: Timestamp
    ) throws(InvalidInput) -> Device {
        try body.readForeign { reader in
            let isNamed = owner == nil || reader.contains("deviceId") && !reader.isNull("deviceId")
            let named = isNamed ? reader.amityDeviceID("deviceId") : nil
            let user = reader.userID("userId", required: owner == nil) ?? owner
            let platform = reader.choice("platform", as: Platform.self, required: true)
            let service = reader.choice("provider", as: Service.self)
            if service == .baidu || service == .apns && owner == nil {
                reader.refuse("provider", "must be fcm: Baidu is not served")
            }
            let token = reader.string("token", required: true, maximumBytes: Self.longestToken, nonEmpty: true)
            guard let platform, let token, let user,
                let address = Self.address(platform, token, settings, &reader)
            else { return nil }
            return Device(id: named ?? DeviceID(reachedAt: address), userID: user, address: address, registeredAt: now)
        }
    }

    private static func address(
        _ platform: Platform,
        _ token: String,
        _ settings: AmitySettings,
        _ reader: inout JSONObjectReader
    ) -> DeviceAddress? {
        switch platform {
        case .ios:
            guard let app = settings.ios else { break }
            return reader.checkAppleToken(token, upTo: longestAppleToken) ? app.address(of: token.lowercased()) : nil
        case .android:
            guard let app = settings.android else { break }
            return reader.checkGoogleToken(token) ? .fcm(token: token, appID: app) : nil
        }
        reader.refuse("platform", "has no app in this network")
        return nil
    }
}

/// Which device is to get nothing more, and whose it has to be.
struct AmityUnregistration {
    let deviceID: DeviceID
    /// Whose it has to be; anybody's where nobody is named.
    let userID: UserID?
}

extension AmityUnregistration {
    /// Reads the query, and a body in JSON for what the query does not say.
    /// - Throws: What is wrong with either; a request that names no device is never about all of them.
    init(query: QueryParameters, body bytes: [UInt8]) throws {
        var body = JSONObject()
        if !bytes.isEmpty {
            guard let members = try JSONValue(body: bytes).object else {
                throw Problem.invalidBody("must be an object")
            }
            body = members
        }
        for name in ["deviceId", "userId"] {
            if let text = try query.text(name), !text.isEmpty { body[name] = .string(text) }
        }
        self = try JSONValue.object(body).readForeign { reader in
            let id = reader.amityDeviceID("deviceId")
            // Older SDKs send it empty where they mean none.
            let isNamed = reader.value("userId") != .string("")
            let user = isNamed ? reader.userID("userId") : nil
            return id.map { Self(deviceID: $0, userID: user) }
        }
    }
}

extension JSONObjectReader {
    /// The id of a device, as long as Amity lets it be. Ids that are made of addresses belong to those addresses.
    fileprivate mutating func amityDeviceID(_ key: String) -> DeviceID? {
        guard let id = identifier(key, as: Device.self, required: true) else { return nil }
        guard id.rawValue.unicodeScalars.count <= AmityRegistration.longestDeviceID, !id.isOfAddress else {
            refuse(key, "must be at most \(AmityRegistration.longestDeviceID) characters, and no id of an address")
            return nil
        }
        return id
    }
}
