import CarillonCore
import CarillonDialects
import Crypto
import Foundation

/// What a sender posts, and what comes of it, at a moment of the test's choice.
struct Scene {
    /// 2025-11-20T10:00:00Z, when the published vectors were made; TalkJS's timestamp is of that minute.
    static let now = Timestamp(milliseconds: 1_763_632_800_123)

    var dialect: any EventDialect
    var settings = JSONObject()
    var now = Self.now

    init(_ name: DialectName, settings: JSONObject = JSONObject()) {
        dialect = Dialects.named(name)
        self.settings = settings
    }

    func read(
        _ body: String,
        headers: [(name: String, value: String)] = [],
        query: [(name: String, value: String)] = []
    ) throws -> DialectReading {
        let request = DialectRequest(query: query, headers: headers, body: Array(body.utf8))
        return try dialect.events(of: request, DialectSettings(settings), now: now)
    }
}

extension DialectReading {
    /// The canonical events.
    var canonical: [JSONValue] {
        events.compactMap { event in
            if case .known(_, let canonical) = event.content { canonical } else { nil }
        }
    }

    /// Why the rest is ignored.
    var reasons: [String] {
        events.compactMap { event in
            if case .ignored(let reason) = event.content { reason } else { nil }
        }
    }

    /// The events themselves.
    var known: [Event] {
        events.compactMap { event in
            if case .known(let event, _) = event.content { event } else { nil }
        }
    }
}

extension DialectDocument {
    /// A document with these secrets.
    init(_ name: DialectName, secrets: String..., basic: (user: String, password: String)? = nil) {
        self.init(
            name: name,
            secrets: secrets.map { SharedSecret(value: Secret($0), setAt: Scene.now) },
            basic: basic.map { BasicCredential(user: $0.user, password: Secret($0.password), setAt: Scene.now) },
            updatedAt: Scene.now
        )
    }
}

/// HMAC-SHA256 of a text in hexadecimal digits.
func hexHMAC(_ text: String, key: String) -> String {
    HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: Data(key.utf8)))
        .map { String(format: "%02x", $0) }.joined()
}

/// Bytes of hexadecimal digits.
func bytes(hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap { offset in
        let start = hex.index(hex.startIndex, offsetBy: offset)
        return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
    }
}

/// SHA-256 of a text in hexadecimal digits.
func hexSHA256(_ text: String) -> String {
    SHA256.hash(data: Data(text.utf8)).map { String(format: "%02x", $0) }.joined()
}

func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
