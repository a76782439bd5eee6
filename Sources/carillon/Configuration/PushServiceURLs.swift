import CarillonCore

/// Where the push services are; `nil` means where Apple and Google have them. Set to point at a simulator.
struct PushServiceURLs: Sendable {
    /// Apple's service for apps from the App Store.
    var apnsProduction: OutboundURL?
    /// Apple's service for apps under development.
    var apnsSandbox: OutboundURL?
    /// Google's service.
    var fcm: OutboundURL?

    /// Apple's and Google's own.
    init() {}

    /// What the operator has set.
    init(from reader: inout SettingsReader) {
        apnsProduction = reader.value(.apnsProductionUrl, OutboundURL.init(setting:))
        apnsSandbox = reader.value(.apnsSandboxUrl, OutboundURL.init(setting:))
        fcm = reader.value(.fcmUrl, OutboundURL.init(setting:))
    }
}
