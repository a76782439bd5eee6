import CarillonCore
import Testing

@testable import CarillonProviders

/// One row per status that the RFCs or the push services name, and some that nobody has seen.
@Suite struct WebPushOutcomeTests {
    typealias Row = AnswerRow

    private static let tenSeconds = Duration.seconds(10)
    private static let minute = Duration.seconds(60)
    private static let mozillaMismatch =
        #"{"code":401,"errno":109,"error":"Unauthorized","message":"VAPID public key mismatch"}"#
    private static let googleMismatch =
        "the VAPID credentials in the authorization header do not correspond to the credentials used to create the "
        + "subscriptions.\n"

    private static func refusal(_ status: Int, _ stated: String = "", wait: Duration = minute) -> Finding {
        let reason = "http \(status)\(stated)"
        return .refusal(
            ofDevice: .quarantine(reason: reason),
            ofLane: .misconfigured(reason: reason),
            unclear: .retry(after: wait, reason: reason)
        )
    }

    private static func limit(_ wait: Duration, status: Int = 429) -> Finding {
        let reason = "http \(status)"
        return .limit(ofDevice: .retry(after: wait, reason: reason), ofLane: .deferLane(after: wait, reason: reason))
    }

    private static func otherKey(_ status: Int) -> Outcome {
        .quarantine(reason: "http \(status) subscribed with another key")
    }

    static let documented: [Row] = [
        Row(200, is: .delivered(id: nil)),
        Row(201, is: .delivered(id: nil)),
        Row(202, is: .delivered(id: nil)),
        Row(204, is: .delivered(id: nil)),
        Row(301, is: .retry(after: tenSeconds, reason: "http 301")),
        Row(302, is: .retry(after: tenSeconds, reason: "http 302")),
        Row(307, is: .retry(after: tenSeconds, reason: "http 307")),
        Row(308, failures: 1, is: .retry(after: tenSeconds, reason: "http 308")),
        Row(308, failures: 2, is: .bug(reason: "http 308")),
        Row(400, is: .bug(reason: "http 400")),
        Row(400, #"{"reason":"BadWebPushTopic"}"#, is: .bug(reason: "http 400 BadWebPushTopic")),
        Row(400, #"{"reason":"VapidPkHashMismatch"}"#, is: otherKey(400)),
        Row(401, finding: refusal(401)),
        Row(401, mozillaMismatch, is: otherKey(401)),
        Row(401, retryAfter: .seconds(300), finding: refusal(401, wait: .seconds(300))),
        Row(403, finding: refusal(403)),
        Row(403, #"{"reason":"BadJwtToken"}"#, finding: refusal(403, " BadJwtToken")),
        Row(401, #"{"code":401,"errno":110}"#, finding: refusal(401, " errno 110")),
        // What is no word may be what somebody wrote.
        Row(403, #"{"reason":"dear ops, <b>no</b>"}"#, finding: refusal(403)),
        Row(400, #"{"errno":"x","reason":{}}"#, is: .bug(reason: "http 400")),
        Row(403, #"{"reason":"VapidPkHashMismatch"}"#, is: otherKey(403)),
        Row(403, googleMismatch, is: otherKey(403)),
        Row(404, is: .unregister(at: nil, reason: "http 404")),
        Row(406, failures: 9, finding: limit(minute, status: 406)),
        Row(406, retryAfter: .seconds(120), finding: limit(.seconds(120), status: 406)),
        Row(410, is: .unregister(at: nil, reason: "http 410")),
        Row(413, is: .bug(reason: "http 413")),
        Row(429, finding: limit(minute)),
        Row(429, retryAfter: .seconds(120), finding: limit(.seconds(120))),
        Row(429, retryAfter: .zero, finding: limit(tenSeconds)),
        Row(500, is: .retry(after: tenSeconds, reason: "http 500")),
        Row(502, is: .retry(after: tenSeconds, reason: "http 502")),
        Row(503, retryAfter: .seconds(45), is: .retry(after: .seconds(45), reason: "http 503")),
        Row(503, retryAfter: .zero, is: .retry(after: tenSeconds, reason: "http 503")),
    ]

    static let undocumented: [Row] = [
        Row(402, is: .retry(after: tenSeconds, reason: "http 402")),
        Row(405, failures: 2, is: .bug(reason: "http 405")),
        Row(408, failures: 9, is: .retry(after: tenSeconds, reason: "http 408")),
        Row(418, is: .retry(after: tenSeconds, reason: "http 418")),
        Row(418, failures: 2, is: .bug(reason: "http 418")),
        Row(410, "<html>VapidPkHashMismatch</html>", is: .unregister(at: nil, reason: "http 410")),
        Row(500, mozillaMismatch, is: .retry(after: tenSeconds, reason: "http 500")),
        Row(403, String(repeating: "x", count: 5_000) + "VapidPkHashMismatch", finding: refusal(403)),
        Row(599, failures: 30, is: .retry(after: tenSeconds, reason: "http 599")),
    ]

    @Test(arguments: documented + undocumented)
    func `means`(row: Row) {
        let finding = Finding(
            webPush: .answer(row.status, row.body),
            retryAfter: row.retryAfter,
            failures: row.failures
        )
        #expect(finding == row.expected)
    }

    @Test(arguments: Array(100...599))
    func `only 404 and 410 unregister`(status: Int) {
        for body in ["", "gone", #"{"reason":"Unregistered"}"#] {
            let finding = Finding(webPush: .answer(status, body), retryAfter: nil, failures: 0)
            if case .certain(.unregister) = finding { #expect([404, 410].contains(status)) }
        }
    }
}
