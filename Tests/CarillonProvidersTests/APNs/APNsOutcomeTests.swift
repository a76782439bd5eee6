import CarillonCore
import NIOHTTP1
import Testing

@testable import CarillonProviders
@testable import PushHTTP

@Suite struct APNsOutcomeTests {
    private static let now = Timestamp(milliseconds: 1_763_632_800_000)
    private static let quarterHour = Duration.seconds(15 * 60)

    /// Every reason of Apple's table, and what is in none.
    @Test(
        arguments: [
            (400, "BadCollapseId", .bug(reason: "BadCollapseId")),
            (400, "BadDeviceToken", .quarantine(reason: "BadDeviceToken")),
            (400, "BadExpirationDate", .bug(reason: "BadExpirationDate")),
            (400, "BadMessageId", .bug(reason: "BadMessageId")),
            (400, "BadPriority", .bug(reason: "BadPriority")),
            (400, "BadTopic", .misconfigured(reason: "400 BadTopic")),
            (400, "DeviceTokenNotForTopic", .quarantine(reason: "DeviceTokenNotForTopic")),
            (400, "DuplicateHeaders", .bug(reason: "DuplicateHeaders")),
            (400, "IdleTimeout", .retry(after: .seconds(1), reason: "IdleTimeout")),
            (400, "InvalidPushType", .bug(reason: "InvalidPushType")),
            (400, "InvalidToken", .quarantine(reason: "InvalidToken")),
            (400, "MissingDeviceToken", .bug(reason: "MissingDeviceToken")),
            (400, "MissingTopic", .misconfigured(reason: "400 MissingTopic")),
            (400, "PayloadEmpty", .bug(reason: "PayloadEmpty")),
            (400, "TopicDisallowed", .misconfigured(reason: "400 TopicDisallowed")),
            (403, "BadCertificate", .misconfigured(reason: "403 BadCertificate")),
            (403, "BadCertificateEnvironment", .misconfigured(reason: "403 BadCertificateEnvironment")),
            (403, "BadEnvironmentKeyIdInToken", .misconfigured(reason: "403 BadEnvironmentKeyIdInToken")),
            (403, "ExpiredProviderToken", .misconfigured(reason: "403 ExpiredProviderToken")),
            (403, "Forbidden", .misconfigured(reason: "403 Forbidden")),
            (403, "InvalidProviderToken", .misconfigured(reason: "403 InvalidProviderToken")),
            (403, "MissingProviderToken", .misconfigured(reason: "403 MissingProviderToken")),
            (403, "UnrelatedKeyIdInToken", .retry(after: nil, reason: "UnrelatedKeyIdInToken")),
            (404, "BadPath", .bug(reason: "BadPath")),
            (405, "MethodNotAllowed", .bug(reason: "MethodNotAllowed")),
            (410, "ExpiredToken", .unregister(at: nil, reason: "ExpiredToken")),
            (410, "Unregistered", .unregister(at: nil, reason: "Unregistered")),
            (413, "PayloadTooLarge", .bug(reason: "PayloadTooLarge")),
            (
                429, "TooManyProviderTokenUpdates",
                .deferLane(after: .seconds(60), reason: "TooManyProviderTokenUpdates")
            ),
            (429, "TooManyRequests", .retry(after: .seconds(30), reason: "TooManyRequests")),
            (500, "InternalServerError", .retry(after: quarterHour, reason: "InternalServerError")),
            (503, "ServiceUnavailable", .retry(after: quarterHour, reason: "ServiceUnavailable")),
            (503, "Shutdown", .retry(after: quarterHour, reason: "Shutdown")),

            (200, nil, .delivered(id: nil)), (202, nil, .delivered(id: nil)),
            (301, nil, .retry(after: nil, reason: "http 301")),
            (400, nil, .bug(reason: "http 400")), (400, "NewReason", .bug(reason: "NewReason")),
            (400, "Unregistered", .bug(reason: "Unregistered")),
            (404, "BadDeviceToken", .bug(reason: "BadDeviceToken")),
            (401, nil, .misconfigured(reason: "http 401")), (403, nil, .misconfigured(reason: "http 403")),
            (403, "NewReason", .misconfigured(reason: "403 NewReason")),
            (408, nil, .retry(after: nil, reason: "http 408")),
            (410, nil, .bug(reason: "http 410")), (410, "NewReason", .bug(reason: "NewReason")),
            (429, nil, .retry(after: .seconds(30), reason: "http 429")),
            (500, nil, .retry(after: nil, reason: "http 500")),
            (502, nil, .retry(after: nil, reason: "http 502")),
            (599, "NewReason", .retry(after: nil, reason: "NewReason")),
        ] as [(Int, String?, Outcome)]
    )
    func `each answer is something to do`(status: Int, reason: String?, expected: Outcome) {
        let body = reason.map { Array(#"{"reason":"\#($0)"}"#.utf8) } ?? []
        let response = OutboundResponse(status: status, headers: [:], body: body)
        let answer = APNsAnswer(response, now: Self.now)
        #expect(Outcome(answer) == expected)
        let wait = Outcome.retry(after: Self.quarterHour, reason: reason ?? "")
        let isOfEnvironment = ["BadCertificateEnvironment", "BadEnvironmentKeyIdInToken"].contains(reason)
        let isUnavailable = ["InternalServerError", "ServiceUnavailable", "Shutdown"].contains(reason)
        let isOfTopic = ["BadTopic", "MissingTopic", "TopicDisallowed"].contains(reason)
        let finding: Finding =
            if isOfTopic {
                .refusal(
                    ofDevice: .quarantine(reason: reason ?? ""),
                    ofLane: expected,
                    unclear: .retry(after: .seconds(60), reason: reason ?? "")
                )
            } else if isOfEnvironment {
                .certain(wait)
            } else if isUnavailable {
                .limit(ofDevice: expected, ofLane: .deferLane(after: Self.quarterHour, reason: reason ?? ""))
            } else {
                .certain(expected)
            }
        #expect(Finding(answer) == finding)
    }

    @Test func `carries the time of a device's end, in milliseconds`() {
        let body = Array(#"{"reason":"Unregistered","timestamp":1763632800123}"#.utf8)
        let response = OutboundResponse(status: 410, headers: [:], body: body)
        let expected = Outcome.unregister(at: Timestamp(milliseconds: 1_763_632_800_123), reason: "Unregistered")
        #expect(Outcome(APNsAnswer(response, now: Self.now)) == expected)
    }

    @Test(arguments: ["-1", "0", "1e300", "\"1\"", "null", "1.5"])
    func `does not take everything for a time`(timestamp: String) {
        let body = Array(#"{"reason":"Unregistered","timestamp":\#(timestamp)}"#.utf8)
        let response = OutboundResponse(status: 410, headers: [:], body: body)
        #expect(Outcome(APNsAnswer(response, now: Self.now)) == .unregister(at: nil, reason: "Unregistered"))
    }

    @Test(arguments: [
        "<html>Bad Gateway</html>", "", "{", "[]", #"{"reason":1}"#, #"{"reason":""}"#, #"{"reason":"<b>"}"#,
        #"{"reason":"a b"}"#, "\u{0}", #"{"reason":"\#(String(repeating: "a", count: 65))"}"#,
    ])
    func `goes by the status when there is no reason`(body: String) {
        let response = OutboundResponse(status: 502, headers: [:], body: Array(body.utf8))
        #expect(Outcome(APNsAnswer(response, now: Self.now)) == .retry(after: nil, reason: "http 502"))
    }

    @Test(arguments: [
        (429, "TooManyRequests", "120", Duration.seconds(120)), (429, "TooManyRequests", "5", .seconds(30)),
        (429, "TooManyRequests", "-1", .seconds(30)), (503, "ServiceUnavailable", "60", quarterHour),
        (503, "ServiceUnavailable", "1000000000000", .seconds(86_400)), (502, "", "7", .seconds(7)),
    ])
    func `waits for at least as long as it is told`(status: Int, reason: String, header: String, wait: Duration) {
        let body = Array(#"{"reason":"\#(reason)"}"#.utf8)
        let response = OutboundResponse(status: status, headers: ["Retry-After": header], body: body)
        guard case .retry(let after, _, _) = Outcome(APNsAnswer(response, now: Self.now)) else {
            Issue.record("not a retry")
            return
        }
        #expect(after == wait)
    }

    @Test func `keeps Apple's id of what was delivered`() {
        let response = OutboundResponse(status: 200, headers: ["apns-id": "abc"], body: [])
        #expect(Outcome(APNsAnswer(response, now: Self.now)) == .delivered(id: "abc"))
        let long = OutboundResponse(status: 200, headers: ["apns-id": String(repeating: "a", count: 65)], body: [])
        #expect(Outcome(APNsAnswer(long, now: Self.now)) == .delivered(id: nil))
    }
}
