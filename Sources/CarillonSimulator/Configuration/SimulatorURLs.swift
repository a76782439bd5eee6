/// Where the services of a ``Simulator`` are, without a slash at the end.
package struct SimulatorURLs: Hashable, Sendable {
    /// For `CARILLON_APNS_PRODUCTION_URL`.
    package let apnsProduction: String
    /// For `CARILLON_APNS_SANDBOX_URL`.
    package let apnsSandbox: String
    /// For `CARILLON_FCM_URL`.
    package let fcm: String
    /// What the endpoints of subscriptions begin with.
    package let webPush: String

    /// The endpoint for access tokens, which service accounts name.
    package var token: String { "\(fcm)/token" }
}
