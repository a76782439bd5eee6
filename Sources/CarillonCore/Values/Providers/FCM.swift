extension ProviderName {
    package static let fcm = ProviderName(
        ProviderKind(
            name: "fcm",
            address: .token(),
            lanes: .byApp,
            rawPart: RawPartForm(
                payloadKey: "message",
                reserved: ["token", "topic", "condition"],
                visible: [["notification"], ["android", "notification"]],
                isShownByApps: true
            )
        )
    )
}

extension DeviceAddress {
    package static func fcm(token: String, appID: String) -> DeviceAddress {
        DeviceAddress(.fcm, token, appID: appID)
    }
}
