import CarillonCore
import CarillonSimulator

/// Runs simulated push services while `body` runs.
func withSimulator(
    _ configuration: SimulatorConfiguration = SimulatorConfiguration(),
    _ body: (Simulator) async throws -> Void
) async throws {
    try await Simulator.withSimulator(configuration, body)
}

extension Simulator {
    /// What a service needs to take these for Apple's, Google's and the browsers' push services.
    var environment: [String: String] {
        [
            "CARILLON_APNS_PRODUCTION_URL": urls.apnsProduction, "CARILLON_APNS_SANDBOX_URL": urls.apnsSandbox,
            "CARILLON_FCM_URL": urls.fcm, "CARILLON_EXTRA_CA_FILE": certificateAuthorityFile,
        ]
    }

    func accepted(for token: String) -> [ReceivedNotification] {
        received.notifications.filter { $0.deviceToken == token && $0.isAccepted }
    }
}

extension ReceivedNotification {
    /// What was sent, decrypted where it was encrypted.
    var json: JSONValue { (try? JSONValue(parsing: payload)) ?? .null }
}
