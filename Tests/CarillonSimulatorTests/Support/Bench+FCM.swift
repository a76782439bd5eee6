import CarillonSimulator
import Foundation
import NIOCore

extension Bench {
    var sendURL: String { "\(simulator.urls.fcm)/v1/projects/simulated-project/messages:send" }

    /// Asks for an access token; `nil` asks with an assertion that is right.
    func requestToken(_ assertion: String? = nil) async throws -> Answer {
        let assertion = try assertion ?? Token.assertion(simulator.serviceAccountJSON)
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let headers = [("content-type", "application/x-www-form-urlencoded")]
        return try await post(simulator.urls.token, headers: headers, body: Array(form.utf8))
    }

    func accessToken() async throws -> String { try await requestToken()["access_token"] ?? "" }

    /// A message that is right but for the members given as JSON.
    static func message(to token: String, _ members: String = "") -> String {
        #"""
        {"message":{"token":"\#(token)","notification":{"title":"Bob","body":"Hello"}\#(members.isEmpty ? "" : ",")\#(members)}}
        """#
    }

    func send(
        _ message: String,
        accessToken: String,
        url: String? = nil,
        timeout: TimeAmount = .seconds(10)
    ) async throws -> Answer {
        let headers = [("authorization", "Bearer \(accessToken)"), ("content-type", "application/json")]
        return try await post(url ?? sendURL, headers: headers, body: Array(message.utf8), timeout: timeout)
    }
}

extension Bench.Answer {
    /// The code of FCM in the error's details.
    var fcmErrorCode: String? { details.compactMap { $0["errorCode"] as? String }.first }

    /// The field that the error is about.
    var violatedField: String? {
        details.compactMap { ($0["fieldViolations"] as? [[String: String]])?.first?["field"] }.first
    }

    private var details: [[String: Any]] {
        let object = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
        return (object?["error"] as? [String: Any])?["details"] as? [[String: Any]] ?? []
    }
}
