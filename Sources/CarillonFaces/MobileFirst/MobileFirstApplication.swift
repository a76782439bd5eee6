import CarillonCore
import CarillonEdge

/// What a network says of one of its applications.
struct MobileFirstApplication: Sendable, Equatable {
    /// The two kinds of devices, as requests call them.
    enum Platform: String, Sendable, CaseIterable {
        case apple = "A"
        case google = "G"

        var provider: ProviderName {
            switch self {
            case .apple: .apns
            case .google: .fcm
            }
        }
    }

    /// Whose access tokens apps bring along: a MobileFirst server.
    struct Issuer: Sendable, Equatable {
        /// What `iss` says.
        var name: String
        /// Its key for RS256, in PEM.
        var publicKey: String
        var userIDClaim: String

        fileprivate var json: JSONValue {
            ["iss": .string(name), "publicKey": .string(publicKey), "userIdClaim": .string(userIDClaim)]
        }
    }

    private static let maximumIssuers = 8
    private static let maximumKeyBytes = 4_096

    var apple: AppleApp?
    /// The app's id at Google.
    var google: String?
    var senderID: String?
    var issuers: [Issuer] = []

    var apps: [DeviceSelection.App] {
        [apple.map { .init(.apns, $0.id) }, google.map { .init(.fcm, $0) }].compactMap(\.self)
    }

    /// The platform of an address, when it is one of this application's.
    func platform(of address: DeviceAddress) -> Platform? {
        guard apps.contains(DeviceSelection.App(address.provider, address.appID)) else { return nil }
        return Platform.allCases.first { $0.provider == address.provider }
    }

    /// Reads a binding; `nil` after noting what is wrong.
    init?(from reader: inout JSONObjectReader) {
        guard let apple = reader.appleApp("A") else { return nil }
        var sender: String?
        let app = reader.app("G") { sender = $0.string("senderId", maximumBytes: 256, nonEmpty: true) }
        guard let google = app else { return nil }
        (self.apple, self.google, senderID) = (apple, google, sender)
        for (index, value) in (reader.array("issuers", maximumCount: Self.maximumIssuers) ?? []).enumerated() {
            guard let issuer = Self.issuer(reader.reader(of: value, in: "issuers", at: index)) else { return nil }
            guard !issuers.contains(where: { $0.name == issuer.name && $0.publicKey == issuer.publicKey }) else {
                reader.refuse("issuers", at: index, "is given twice")
                return nil
            }
            issuers.append(issuer)
        }
        guard apple != nil || google != nil else {
            reader.refuse("A", "is required where there is no G")
            return nil
        }
    }

    private static func issuer(_ reader: JSONObjectReader) -> Issuer? {
        var part = reader
        let name = part.string("iss", required: true, nonEmpty: true)
        let publicKey = part.string("publicKey", required: true, maximumBytes: maximumKeyBytes)
        let claim = part.string("userIdClaim", maximumBytes: 256, nonEmpty: true)
        part.finish()
        guard let name, let publicKey else { return nil }
        guard TokenVerifier(.rs256(publicKey: publicKey)) != nil else {
            part.refuse("publicKey", "must be an RSA key of at least \(TokenVerifier.minimumRSABits) bits in PEM")
            return nil
        }
        return Issuer(name: name, publicKey: publicKey, userIDClaim: claim ?? "sub")
    }

    var document: JSONObject {
        [
            "A": apple?.json,
            "G": google.map { ["appId": .string($0), "senderId": senderID.map(JSONValue.string)] },
            "issuers": .array(issuers.map(\.json)),
        ]
    }

    /// Reads what ``document`` wrote; `nil` for what only a later release can read.
    init?(_ document: JSONObject) {
        var reader = JSONObjectReader(.object(document), unknown: .tolerate, into: InputErrors())
        self.init(from: &reader)
    }
}
