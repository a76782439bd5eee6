import CarillonCore
import Testing

@testable import CarillonProviders
@testable import PushHTTP

@Suite struct FCMVerificationTests {
    private func verdict(_ answer: OutboundResponse) async throws -> (CredentialVerdict, [OutboundRequest]) {
        let transport = RecordingTransport { request in request.asksForToken ? .accessToken("ya29") : answer }
        let verification = FCMVerification(
            transport: transport,
            tokens: FCMTokenSource(transport: transport),
            server: .google
        )
        return (try await verification.verdict(on: try ServiceAccount.credential()), transport.requests)
    }

    private static func refusal(_ code: Int, _ status: String, _ details: String = "") -> OutboundResponse {
        .answer(code, #"{"error":{"code":\#(code),"message":"No.","status":"\#(status)","details":[\#(details)]}}"#)
    }

    private static let disabled = #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED"}"#
    private static let unregistered =
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}"#

    @Test(
        arguments: [
            (refusal(400, "INVALID_ARGUMENT"), .accepted), (.answer(200, #"{"name":"n"}"#), .accepted),
            (refusal(404, "NOT_FOUND", unregistered), .accepted),
            (refusal(403, "PERMISSION_DENIED", disabled), .refused(reason: "SERVICE_DISABLED")),
            (refusal(403, "PERMISSION_DENIED"), .refused(reason: "PERMISSION_DENIED")),
            (refusal(404, "NOT_FOUND"), .refused(reason: "NOT_FOUND")),
            (refusal(401, "UNAUTHENTICATED"), .refused(reason: "UNAUTHENTICATED")),
            (refusal(503, "UNAVAILABLE"), .unknown(reason: "UNAVAILABLE")),
            (.answer(302, "<html>"), .unknown(reason: "http 302")),
        ] as [(OutboundResponse, CredentialVerdict)]
    )
    func `each answer says something of the service account`(
        answer: OutboundResponse,
        expected: CredentialVerdict
    ) async throws {
        let (verdict, requests) = try await verdict(answer)
        #expect(verdict == expected)
        let sent = try #require(requests.last)
        #expect(sent.url == "https://fcm.googleapis.com/v1/projects/acme-chat/messages:send")
        #expect(try JSONValue(parsing: sent.body)["validate_only"] == true, "nobody is notified")
    }

    @Test func `without an access token nothing is sent`() async throws {
        let transport = RecordingTransport { _ in .answer(400, #"{"error":"invalid_grant"}"#) }
        let verification = FCMVerification(
            transport: transport,
            tokens: FCMTokenSource(transport: transport),
            server: .google
        )
        let credential = try ServiceAccount.credential()
        await #expect(throws: FCMTokenFailure.self) { try await verification.verdict(on: credential) }
        #expect(transport.requests.count == 1)
    }
}
