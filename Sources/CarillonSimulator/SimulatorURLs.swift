/// Where the services of a ``Simulator`` are, without a slash at the end.
public struct SimulatorURLs: Hashable, Sendable {
    /// For `CARILLON_APNS_PRODUCTION_URL`.
    public let apnsProduction: String
    /// For `CARILLON_APNS_SANDBOX_URL`.
    public let apnsSandbox: String
    /// For `CARILLON_FCM_URL`.
    public let fcm: String
    /// What the endpoints of subscriptions begin with.
    public let webPush: String

    /// The endpoint for access tokens, which service accounts name.
    public var token: String { "\(fcm)/token" }
}
