import CarillonCore
import CarillonEdge
import Crypto

/// By which a device proves that it is the one that registered: signed by Carillon, and good for as long as the device has the same
/// secret (FACES E2, `deviceIdentityToken`).
struct AblyDeviceToken: Sendable, Equatable {
    private static let lifetime = Duration.seconds(400 * 86_400)

    let deviceID: DeviceID
    /// Where its holder may subscribe the device.
    let capability: AblyCapability
    private let fingerprint: String

    /// Reads and verifies a token; `nil` when it is none, is another network's, or has ended.
    init?(_ token: AblyToken, of network: NetworkID, secret: FaceSecret, now: Timestamp) {
        guard secret.signed(token.signed, for: .ably), !token.signed.hasEnded(at: now),
            token.signed.text(AblyToken.Claim.network) == network.rawValue,
            let deviceID = token.signed.text(AblyToken.Claim.device).flatMap(DeviceID.init),
            let fingerprint = token.signed.text("jti"),
            let capability = Self.capability(token.signed.claims[AblyToken.Claim.capability])
        else { return nil }
        self.deviceID = deviceID
        self.capability = capability
        self.fingerprint = fingerprint
    }

    /// What a token says of it; those of former releases say nothing, and are good everywhere.
    private static func capability(_ claim: JSONValue?) -> AblyCapability? {
        guard let claim else { return .device }
        return AblyCapability(claim)
    }

    /// Whether it is a device's as that is registered now.
    func isOf(_ device: Device) -> Bool { device.id == deviceID && Self.fingerprint(of: device) == fingerprint }

    /// Makes the token of a device, with what clients are told beside it.
    static func details(of device: Device, for caller: AblyCaller, secret: FaceSecret, now: Timestamp) -> JSONObject {
        let end = now + lifetime
        // Whoever is shown it is to get no further with it than they do themselves.
        let capability = caller.capability.ofDevice.text
        let client: JSONValue? = device.userID.isNobody ? nil : .string(device.userID.rawValue)
        let claims: JSONObject = [
            "iat": JSONValue(Int(now.milliseconds / 1000)), "exp": JSONValue(Int(end.milliseconds / 1000)),
            "jti": .string(fingerprint(of: device)), AblyToken.Claim.device: .string(device.id.rawValue),
            AblyToken.Claim.network: .string(caller.network.id.rawValue),
            AblyToken.Claim.capability: .string(capability), AblyToken.Claim.client: client,
        ]
        let token = AblyToken.make(keyName: caller.appID, claims: claims) { secret.sign($0, for: .ably) }
        return [
            "token": .string(token), "keyName": .string(caller.keyName),
            "issued": JSONValue(Int(now.milliseconds / 1000) * 1000),
            "expires": JSONValue(Int(end.milliseconds / 1000) * 1000),
            "capability": .string(capability), "clientId": client,
        ]
    }

    /// Tells one secret from another, and says nothing of it.
    private static func fingerprint(of device: Device) -> String {
        Base64URL.encode(SHA256.hash(data: Array("\(device.id.rawValue)\u{0}".utf8) + (device.secretHash?.bytes ?? [])))
    }
}
