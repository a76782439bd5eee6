/// The deliveries of one network, provider and app: what a credential, a rate and a circuit breaker belong to.
package struct Lane: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var networkID: NetworkID
    package var provider: ProviderName
    /// The app whose credential is needed, or the host of the devices' URLs; empty where the provider has neither.
    package var appID: String

    package init(networkID: NetworkID, provider: ProviderName, appID: String) {
        self.networkID = networkID
        self.provider = provider
        self.appID = appID
    }

    /// The app, where a provider has credentials for each.
    package var app: String? { provider.kind.lanes == .byApp && !appID.isEmpty ? appID : nil }

    /// The server, where devices are on many.
    package var host: String? { provider.kind.lanes == .byApp || appID.isEmpty ? nil : appID }

    package var description: String { "\(networkID)/\(provider.rawValue)/\(appID)" }

    /// By network, provider and app.
    package static func < (left: Self, right: Self) -> Bool {
        (left.networkID, left.provider, left.appID) < (right.networkID, right.provider, right.appID)
    }
}
