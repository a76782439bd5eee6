import CarillonCore
import Testing

@testable import CarillonProviders

/// One row per answer that Google documents or that was seen, and some that nobody has seen.
@Suite struct FCMOutcomeTests {
    typealias Row = AnswerRow

    /// An error as Google writes it.
    private static func error(
        _ status: String,
        code: String? = nil,
        message: String = "",
        details: String = ""
    ) -> String {
        let own = code.map {
            #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"#
        }
        let all = [own, details.isEmpty ? nil : details].compactMap(\.self).joined(separator: ",")
        return #"{"error":{"code":0,"message":"\#(message)","status":"\#(status)","details":[\#(all)]}}"#
    }

    private static func invalid(about field: String) -> String {
        error(
            "INVALID_ARGUMENT",
            details:
                #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)","description":"no"}]}"#
        )
    }

    private static func invalid(saying message: String) -> String {
        error("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message: message)
    }

    /// That a quota is used up: whose, and in what words.
    private static func exhausted(_ subject: String? = nil, _ description: String = "", message: String = "") -> String
    {
        let details = subject.map {
            #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":"#
                + #"[{"subject":"\#($0)","description":"\#(description)"}]}"#
        }
        return error("RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", message: message, details: details ?? "")
    }

    private static func deferred(_ wait: Duration, _ reason: String = "QUOTA_EXCEEDED") -> Outcome {
        .deferLane(after: wait, reason: reason)
    }

    private static func retried(_ wait: Duration, _ reason: String) -> Outcome { .retry(after: wait, reason: reason) }

    private static let notAToken = Outcome.unregister(at: nil, reason: "INVALID_ARGUMENT message.token")
    private static let invalidArgument = Outcome.bug(reason: "INVALID_ARGUMENT")

    private static let projectQuota =
        #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","metadata":"#
        + #"{"quota_limit":"SendsPerMinutePerProject","quota_unit":"1/min/{project}"}}"#

    private static let tenSeconds = Duration.seconds(10)
    private static let minute = Duration.seconds(60)
    private static let thirdParty = Finding.partial(
        ofKind: .retry(after: .seconds(900), reason: "THIRD_PARTY_AUTH_ERROR"),
        ofLane: .misconfigured(reason: "401 THIRD_PARTY_AUTH_ERROR")
    )

    private static func mismatch(retryAfter: Duration) -> Finding {
        .refusal(
            ofDevice: .unregister(at: nil, reason: "SENDER_ID_MISMATCH"),
            ofLane: .misconfigured(reason: "403 SENDER_ID_MISMATCH"),
            unclear: .retry(after: retryAfter, reason: "SENDER_ID_MISMATCH"),
            namesDevice: true
        )
    }

    static let documented: [Row] = [
        Row(200, #"{"name":"projects/acme-chat/messages/0:1"}"#, is: .delivered(id: "projects/acme-chat/messages/0:1")),
        Row(200, #"{"name":"\#(String(repeating: "x", count: 300))"}"#, is: .delivered(id: nil)),
        Row(404, error("NOT_FOUND", code: "UNREGISTERED"), is: .unregister(at: nil, reason: "UNREGISTERED")),
        Row(403, error("PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"), finding: mismatch(retryAfter: minute)),
        Row(
            403,
            error("PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"),
            retryAfter: .seconds(120),
            finding: mismatch(retryAfter: .seconds(120))
        ),
        Row(400, invalid(about: "message.token"), is: notAToken),
        Row(400, invalid(saying: "The registration token is not a valid FCM registration token"), is: notAToken),
        Row(400, invalid(about: "message.data[0].value"), is: invalidArgument),
        Row(400, invalid(saying: "Android message is too big"), is: invalidArgument),
        Row(400, invalid(about: "message.token.evil"), is: invalidArgument),
        Row(400, error("INVALID_ARGUMENT"), is: invalidArgument),
        Row(401, error("UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"), finding: thirdParty),
        Row(401, error("UNAUTHENTICATED"), is: .misconfigured(reason: "401 UNAUTHENTICATED")),
        Row(403, error("PERMISSION_DENIED"), is: .misconfigured(reason: "403 PERMISSION_DENIED")),
        Row(
            403,
            error(
                "PERMISSION_DENIED",
                details: #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED"}"#
            ),
            is: .misconfigured(reason: "403 PERMISSION_DENIED (SERVICE_DISABLED)")
        ),
        Row(404, error("NOT_FOUND"), is: .misconfigured(reason: "404 NOT_FOUND")),
        Row(429, exhausted(), is: deferred(minute)),
        Row(429, exhausted(), retryAfter: .seconds(120), is: deferred(.seconds(120))),
        Row(429, exhausted(), retryAfter: .zero, is: deferred(tenSeconds)),
        Row(429, error("RESOURCE_EXHAUSTED", details: projectQuota), is: deferred(minute, "RESOURCE_EXHAUSTED")),
        Row(429, exhausted("project:device-fleet"), is: deferred(minute)),
        Row(429, exhausted("device:1"), is: retried(minute, "QUOTA_EXCEEDED")),
        Row(
            429,
            exhausted("x", "Device message rate exceeded"),
            retryAfter: .seconds(90),
            is: retried(.seconds(90), "QUOTA_EXCEEDED")
        ),
        Row(429, exhausted(message: "Device message rate exceeded."), is: retried(minute, "QUOTA_EXCEEDED")),
        Row(500, error("INTERNAL", code: "INTERNAL"), is: retried(tenSeconds, "INTERNAL")),
        Row(500, error("INTERNAL"), is: retried(tenSeconds, "INTERNAL")),
        Row(503, error("UNAVAILABLE", code: "UNAVAILABLE"), is: retried(tenSeconds, "UNAVAILABLE")),
        Row(503, error("UNAVAILABLE"), retryAfter: minute, is: retried(minute, "UNAVAILABLE")),
        Row(503, error("UNAVAILABLE"), retryAfter: .zero, is: retried(tenSeconds, "UNAVAILABLE")),
        Row(504, error("DEADLINE_EXCEEDED"), is: retried(tenSeconds, "DEADLINE_EXCEEDED")),
        Row(500, error("UNKNOWN", code: "UNSPECIFIED_ERROR"), is: retried(tenSeconds, "UNSPECIFIED_ERROR")),
        Row(500, error("UNKNOWN", code: "UNSPECIFIED_ERROR"), failures: 2, is: .bug(reason: "UNSPECIFIED_ERROR")),
    ]

    static let undocumented: [Row] = [
        Row(200, "not json", is: retried(tenSeconds, "http 200 without a message name")),
        Row(200, "", is: retried(tenSeconds, "http 200 without a message name")),
        Row(200, #"{"name":""}"#, is: retried(tenSeconds, "http 200 without a message name")),
        Row(200, #"{"name":{}}"#, is: retried(tenSeconds, "http 200 without a message name")),
        Row(200, error("NOT_FOUND", code: "UNREGISTERED"), is: .unregister(at: nil, reason: "UNREGISTERED")),
        Row(302, "", is: .misconfigured(reason: "http 302")),
        Row(400, "<html>bad</html>", is: retried(tenSeconds, "http 400")),
        Row(400, "<html>bad</html>", failures: 2, is: .bug(reason: "http 400")),
        Row(400, error("FAILED_PRECONDITION"), failures: 1, is: retried(tenSeconds, "FAILED_PRECONDITION")),
        Row(400, error("FAILED_PRECONDITION"), failures: 2, is: .bug(reason: "FAILED_PRECONDITION")),
        Row(403, "<html>forbidden</html>", is: .misconfigured(reason: "http 403")),
        Row(404, "<html>not found</html>", is: .misconfigured(reason: "http 404")),
        Row(404, error("NOT_FOUND", code: "SOMETHING_NEW"), is: .misconfigured(reason: "404 NOT_FOUND")),
        Row(404, error("SOMETHING_NEW", code: "SOMETHING_NEWER"), is: .misconfigured(reason: "404 SOMETHING_NEWER")),
        Row(408, "", is: retried(tenSeconds, "http 408")),
        Row(410, "", is: retried(tenSeconds, "http 410")),
        Row(413, "", is: .bug(reason: "http 413")),
        Row(418, error("TEAPOT"), is: retried(tenSeconds, "TEAPOT")),
        Row(418, error("TEAPOT"), failures: 2, is: .bug(reason: "TEAPOT")),
        Row(418, error("evil\\nline"), is: retried(tenSeconds, "http 418")),
        Row(429, "<html>slow</html>", is: .deferLane(after: minute, reason: "http 429")),
        Row(500, "", is: retried(tenSeconds, "http 500")),
        Row(502, "<html>bad gateway</html>", failures: 30, is: retried(tenSeconds, "http 502")),
        Row(503, "{", retryAfter: .seconds(30), is: retried(.seconds(30), "http 503")),
        Row(599, #"{"error":"text"}"#, is: retried(tenSeconds, "http 599")),
        Row(500, #"{"error":{"status":7,"message":[],"details":{"a":1}}}"#, is: retried(tenSeconds, "http 500")),
        Row(
            500,
            #"{"error":{"details":[1,"x",null,{"@type":7},{"@type":"a/google.rpc.BadRequest"}]}}"#,
            is: retried(tenSeconds, "http 500")
        ),
    ]

    @Test(arguments: documented + undocumented)
    func `means`(row: Row) {
        let answer = FCMAnswer(.answer(row.status, row.body))
        #expect(Finding(fcm: answer, retryAfter: row.retryAfter, failures: row.failures) == row.expected)
    }

    @Test(arguments: FCMErrorCode.allCases)
    func `every code of Google's has a row`(code: FCMErrorCode) {
        #expect(Self.documented.contains { $0.body.contains(#""errorCode":"\#(code.rawValue)""#) })
    }

    @Test(arguments: Array(100...599))
    func `no status alone unregisters a device`(status: Int) {
        for body in ["", "<html>", "{}", Self.error("NOT_FOUND"), Self.error("GONE", code: "TOKEN_DEAD")] {
            let finding = Finding(fcm: FCMAnswer(.answer(status, body)), retryAfter: nil, failures: 0)
            if case .certain(.unregister) = finding { Issue.record("\(status) \(body)") }
        }
    }

    @Test func `only what is about the access token asks for another one`() {
        #expect(FCMAnswer(.answer(401, Self.error("UNAUTHENTICATED"))).refusesAccessToken)
        #expect(FCMAnswer(.answer(401, "<html>")).refusesAccessToken)
        #expect(
            !FCMAnswer(.answer(401, Self.error("UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"))).refusesAccessToken
        )
        #expect(!FCMAnswer(.answer(403, Self.error("PERMISSION_DENIED"))).refusesAccessToken)
        #expect(!FCMAnswer(.answer(200, "")).refusesAccessToken)
    }
}
