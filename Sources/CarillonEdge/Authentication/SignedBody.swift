import CarillonCore
import CarillonWebhooks
import Foundation
package import HTTPTypes

/// The headers of Standard Webhooks 1.0.0, as a chat backend signs its posts.
package struct SignedBody {
    package static let idHeader = HTTPField.Name.known("webhook-id")
    private static let timestampHeader = HTTPField.Name.known("webhook-timestamp")
    private static let signatureHeader = HTTPField.Name.known("webhook-signature")
    /// How old or how far ahead a timestamp may be.
    private static let tolerance = Duration.seconds(300)

    private let id: String
    private let timestamp: String
    private let signatures: String
    /// A field that is given more than once, so that nobody can tell which value is meant.
    private let repeated: HTTPField.Name?

    /// The headers of a request; `nil` when it does not claim to be signed.
    package init?(_ headers: HTTPFields) {
        guard let signatures = headers[Self.signatureHeader] else { return nil }
        id = headers[Self.idHeader] ?? ""
        timestamp = headers[Self.timestampHeader] ?? ""
        self.signatures = signatures
        repeated = [Self.idHeader, Self.timestampHeader, Self.signatureHeader].first { headers[values: $0].count > 1 }
    }

    /// Whether headers without a signature seem to belong to one, such as those that kits for other services write.
    static func isMeant(by headers: HTTPFields) -> Bool {
        headers.contains { field in
            ["webhook-", "svix-", "x-webhook-"].contains { field.name.canonicalName.hasPrefix($0) }
        }
    }

    package init(id: String, timestamp: String, signatures: String) {
        self.id = id
        self.timestamp = timestamp
        self.signatures = signatures
        repeated = nil
    }

    /// Passes a body that one of the first ``WebhookSignature/maximumSecretCount`` secrets signed lately.
    ///
    /// Accepts an id with full stops: the signed text is then ambiguous, but its other readings have a body that is no JSON
    /// object or array.
    func verify(_ body: [UInt8], secrets: [WebhookSecret], now: Timestamp) throws(Problem) {
        if let repeated { throw .unauthorized("\(repeated) is given more than once") }
        let valid = secrets.prefix(WebhookSignature.maximumSecretCount).map(\.signing)
        do throws(WebhookError) {
            try Webhook(valid, tolerance: Self.tolerance).verify(
                body,
                id: id,
                timestamp: timestamp,
                signature: signatures,
                at: Date(timeIntervalSince1970: Double(now.milliseconds) / 1000)
            )
        } catch {
            throw .unauthorized(error.description + Self.distance(of: timestamp, error, now))
        }
    }

    /// How far a time that is refused is from now.
    private static func distance(of timestamp: String, _ error: WebhookError, _ now: Timestamp) -> String {
        guard [.tooOld, .tooFarAhead].contains(error), let seconds = Int64(timestamp) else { return "" }
        let (distance, overflows) = seconds.subtractingReportingOverflow(now.milliseconds / 1000)
        guard !overflows else { return "" }
        let most = tolerance.components.seconds
        return ": \(distance.magnitude) s from the service's clock, where \(most) s are allowed"
    }
}
