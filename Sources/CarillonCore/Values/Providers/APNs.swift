extension ProviderName {
    package static let apns = ProviderName(
        ProviderKind(
            name: "apns",
            address: .token(hasEnvironments: true) { $0.appleToken() },
            lanes: .byApp,
            ignoresCase: true,
            rawPart: RawPartForm(
                headers: [
                    "apns-push-type": .oneOf([
                        "alert", "background", "complication", "controls", "fileprovider", "liveactivity", "location",
                        "mdm", "pushtotalk", "voip", "widgets",
                    ]),
                    "apns-priority": .oneOf(["1", "5", "10"]),
                    "apns-collapse-id": .text(maximumBytes: 64),
                    "apns-expiration": .number,
                    "apns-topic": .text(maximumBytes: 256),
                ],
                visible: [["aps", "alert"], ["aps", "badge"], ["aps", "sound"]]
            )
        )
    )
}

extension DeviceAddress {
    /// An APNs device token (hexadecimal) of an app (its bundle id).
    package static func apns(token: String, appID: String, environment: APNsEnvironment) -> DeviceAddress {
        DeviceAddress(.apns, token, appID: appID, environment: environment)
    }
}

extension JSONObjectReader {
    private static let maximumAppleDigits = 200

    /// Apple's tokens are hexadecimal in either case: two spellings are one token.
    fileprivate mutating func appleToken() -> String? {
        guard let token = string("token", required: true, maximumBytes: Self.maximumTokenBytes) else { return nil }
        guard (1...Self.maximumAppleDigits).contains(token.utf8.count), token.utf8.allSatisfy(\.isHexDigit) else {
            refuse("token", "must be 1 to \(Self.maximumAppleDigits) hexadecimal digits")
            return nil
        }
        return token.lowercased()
    }
}
