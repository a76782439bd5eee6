import CarillonCore
import CarillonSimulator

/// A push service that a benchmark sends to.
enum PushService: Sendable {
    case apns
    case fcm
    case webPush

    /// The app of all devices.
    static let appID = "com.example.chat"

    /// As in reports.
    var title: String {
        switch self {
        case .apns: "APNs"
        case .fcm: "FCM"
        case .webPush: "Web Push"
        }
    }

    /// Where its credential is stored, in a network.
    var credentialPath: String {
        switch self {
        case .apns: "/providers/apns/apps/\(Self.appID)"
        case .fcm: "/providers/fcm/apps/\(Self.appID)"
        case .webPush: "/providers/webpush"
        }
    }

    /// New addresses of this service.
    func addresses(count: Int, from simulator: SimulatorProcess) -> [DeviceAddress] {
        switch self {
        case .apns:
            (0..<count).map { _ in
                .apns(token: SimulatedToken.apns(), appID: Self.appID, environment: .production)
            }
        case .fcm: (0..<count).map { _ in .fcm(token: SimulatedToken.fcm(), appID: Self.appID) }
        case .webPush: Array(simulator.greeting.subscriptions.prefix(count))
        }
    }
}
