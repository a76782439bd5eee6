import CarillonCore
import NIOHTTP1

extension Outcome {
    /// What a receiver's answer means (API section 9): a 2xx takes the notification, 410 ends it for this device, anything
    /// else, redirects included, is tried again.
    init(webhookStatus status: Int, headers: HTTPHeaders, now: Timestamp) {
        switch status {
        case 200..<300:
            self = .delivered(id: nil)
        case 410:
            self = .unregister(at: nil, reason: "http 410")
        default:
            let retryAfter = headers.first(name: "retry-after").flatMap { Duration(retryAfter: $0, now: now) }
            self = .retry(after: retryAfter, reason: "http \(status)")
        }
    }
}
