/// A notification that a simulated service got, with what it answered.
package struct ReceivedNotification: Sendable {
    package let service: SimulatedService
    /// When the request had arrived completely, since 1 January 1970 UTC.
    package let receivedAt: Duration
    /// The APNs or FCM token, or the endpoint of Web Push.
    package let deviceToken: String
    /// `apns-id`, or `data.notificationId` of the message; `nil` when the request has none that could be read.
    package internal(set) var notificationID: String?
    /// The status answered; `nil` when the client sees no whole answer.
    package let status: Int?
    /// The reason answered, in the service's words; `nil` with success.
    package let reason: String?
    /// The topic of APNs, the project of FCM, the `Topic` of Web Push.
    package internal(set) var topic: String?
    /// The text's first line.
    package internal(set) var title: String?
    /// The text.
    package internal(set) var body: String?
    /// The JSON that was sent, decrypted; empty when only identifiers are remembered.
    package internal(set) var payload: [UInt8] = []
    /// The request's headers without the authorization, names in lower case; empty when only identifiers are remembered.
    package internal(set) var headers: [String: String] = [:]

    /// Whether the service took it, so that the device shows it.
    package var isAccepted: Bool { status.map { (200..<300).contains($0) } ?? false }
}
