import CarillonSimulator
import Foundation
import NIOCore
import NIOHTTP1

extension Bench {
    static let payload = #"{"aps":{"alert":{"title":"Bob","body":"Hello"}},"eventId":"e-1"}"#

    /// Pushes a notification that is right but for the headers given; one with `nil` is left out.
    func push(
        _ token: String = SimulatedToken.apns(),
        to service: String? = nil,
        path: String? = nil,
        method: HTTPMethod = .POST,
        id: String = UUID().uuidString,
        authorization: String? = nil,
        changing changes: KeyValuePairs<String, String?> = [:],
        adding extra: [(String, String)] = [],
        payload: String = payload,
        timeout: TimeAmount = .seconds(10)
    ) async throws -> Answer {
        var headers: [String: String] = [
            "authorization": authorization ?? self.authorization,
            "apns-id": id, "apns-topic": "com.example.chat", "apns-push-type": "alert", "apns-priority": "10",
            "apns-expiration": "0", "apns-collapse-id": id,
        ]
        for (name, value) in changes { headers[name] = value }
        return try await post(
            (service ?? simulator.urls.apnsProduction) + (path ?? "/3/device/\(token)"),
            headers: headers.map { ($0.key, $0.value) } + extra,
            body: Array(payload.utf8),
            method: method,
            timeout: timeout
        )
    }
}
