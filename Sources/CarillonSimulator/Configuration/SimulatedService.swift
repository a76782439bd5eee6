/// A service that the simulator plays.
package enum SimulatedService: String, CaseIterable, Hashable, Sendable {
    /// Apple's service for apps from the App Store.
    case apnsProduction = "apns production"
    /// Apple's service for apps under development.
    case apnsSandbox = "apns sandbox"
    /// Google's service.
    case fcm
    /// The endpoint at which Google gives access tokens.
    case oauth
    /// A browser vendor's service.
    case webPush = "web push"
}
