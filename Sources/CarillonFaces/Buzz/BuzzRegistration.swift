import CarillonCore

/// What an app says after a login: `{"applicationId","type","debugBuild","token"}`.
struct BuzzRegistration: Sendable, Equatable {
    private static let longestAppleToken = 200
    private static let longestToken = 4_096

    /// The application, by which its network is found.
    var applicationID: String
    private var isAndroid: Bool
    private var isDebugBuild: Bool
    private var token: String

    func address(_ apps: BuzzApps) -> DeviceAddress {
        isAndroid
            ? .fcm(token: token, appID: apps.android)
            : .apns(token: token.lowercased(), appID: apps.ios, environment: isDebugBuild ? .sandbox : .production)
    }
}

extension BuzzRegistration {
    init(_ body: JSONValue) throws(InvalidInput) {
        self = try body.readForeign { reader in
            let application = reader.identifier("applicationId", as: DeviceAddress.self, required: true)
            let type = reader.integer("type", required: true, in: 0...1)
            let isDebugBuild = reader.bool("debugBuild") ?? false
            let token = reader.string("token", required: true, maximumBytes: Self.longestToken, nonEmpty: true)
            guard let application, let type, let token else { return nil }
            if type == 0 { _ = reader.checkAppleToken(token, upTo: Self.longestAppleToken) }
            _ = reader.checkGoogleToken(token)
            return Self(
                applicationID: application.rawValue,
                isAndroid: type == 1,
                isDebugBuild: isDebugBuild,
                token: token
            )
        }
    }
}
