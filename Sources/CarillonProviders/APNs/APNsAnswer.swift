import CarillonCore
import NIOHTTP1
import PushHTTP

struct APNsAnswer: Equatable {
    var status: Int
    /// The word for what is wrong; `nil` when the answer has none of the usual form.
    var reason: String?
    /// Since when the device is known to be gone.
    var timestamp: Timestamp?
    var retryAfter: Duration?
    var id: String?

    /// Reads an answer, whatever bytes it is made of.
    init(_ response: OutboundResponse, now: Timestamp) {
        status = response.status
        id = response.headers.first(name: "apns-id").flatMap { $0.utf8.count <= 64 ? $0 : nil }
        retryAfter = response.headers.retryAfter(at: now)
        guard status != 200, case .object(let body)? = try? JSONValue(parsing: response.body) else { return }
        if case .string(let reason) = body["reason"], Self.isWord(reason) { self.reason = reason }
        if case .number(let number) = body["timestamp"], let milliseconds = number.integer, milliseconds > 0 {
            timestamp = Timestamp(milliseconds: Int64(milliseconds))
        }
    }

    /// Whether a text is a reason as Apple writes them.
    static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && $0.isLetter }
    }
}
