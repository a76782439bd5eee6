import CarillonCore

/// What somebody asks a token for; what is absent may also be null, or empty.
struct AblyTokenRequest: Sendable {
    var keyName: String?
    /// In milliseconds.
    var timeToLive: Int?
    /// A capability as a JSON text.
    var capability: String?
    var clientID: String?
    /// In milliseconds since 1970.
    var timestamp: Int?
    var nonce: String?
    var mac: String?

    /// The numbers as they were written, which is how they were signed.
    private var literals: (timeToLive: String, timestamp: String) = ("", "")

    init(_ body: JSONObject) throws(AblyError) {
        keyName = try body.ablyText("keyName", orNone: "")
        capability = try body.ablyText("capability", orNone: "")
        clientID = try body.ablyText("clientId", orNone: "")
        nonce = try body.ablyText("nonce", orNone: "")
        mac = try body.ablyText("mac", orNone: "")
        (timeToLive, literals.timeToLive) = try Self.number("ttl", of: body)
        (timestamp, literals.timestamp) = try Self.number("timestamp", of: body)
    }

    /// What `mac` is made of: each on a line of its own, empty where it is absent.
    func signedBytes(keyName: String) -> [UInt8] {
        let lines = [
            keyName, literals.timeToLive, capability ?? "", clientID ?? "", literals.timestamp, nonce ?? "",
        ]
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    private static func number(_ key: String, of body: JSONObject) throws(AblyError) -> (Int?, String) {
        switch body[key] {
        case nil, .null, .string(""): return (nil, "")
        case .number(let number):
            guard let value = number.integer, value >= 0, value < 1 << 53 else { break }
            return (value, number.literal)
        case .string(let text):
            // Some clients write their numbers as texts.
            guard let value = Int(text), value >= 0, value < 1 << 53 else { break }
            return (value, text)
        default: break
        }
        throw .body("\(key) must be a whole number")
    }
}
