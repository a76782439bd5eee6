extension ProviderName {
    /// Firebase Cloud Messaging.
    package static let fcm = ProviderName(
        ProviderKind(
            name: "fcm",
            address: .token(),
            lanes: .byApp,
            rawPart: RawPartForm(payloadKey: "message", reserved: ["token", "topic", "condition"])
        )
    )
}

extension DeviceAddress {
    /// An FCM registration token of an app.
    package static func fcm(token: String, appID: String) -> DeviceAddress {
        DeviceAddress(.fcm, token, appID: appID)
    }
}
