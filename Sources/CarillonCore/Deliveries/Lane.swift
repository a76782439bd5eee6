/// The deliveries of one network, provider and app: what a credential, a rate and a circuit breaker belong to.
public struct Lane: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The network.
    public var networkID: NetworkID
    /// The provider.
    public var provider: ProviderName
    /// The app whose credential is needed, or the host of the devices' URLs; empty where the provider has neither.
    public var appID: String

    /// A lane by its parts.
    public init(networkID: NetworkID, provider: ProviderName, appID: String) {
        self.networkID = networkID
        self.provider = provider
        self.appID = appID
    }

    /// The app, where a provider has credentials for each.
    public var app: String? { hasApps && !appID.isEmpty ? appID : nil }

    /// The server, where devices are on many.
    public var host: String? { hasApps || appID.isEmpty ? nil : appID }

    private var hasApps: Bool { provider == .apns || provider == .fcm }

    /// The parts with slashes between them.
    public var description: String { "\(networkID)/\(provider.rawValue)/\(appID)" }

    /// By network, provider and app.
    public static func < (left: Self, right: Self) -> Bool {
        (left.networkID, left.provider, left.appID) < (right.networkID, right.provider, right.appID)
    }
}
