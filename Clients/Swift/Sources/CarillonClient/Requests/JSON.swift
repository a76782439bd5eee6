import Foundation

/// The body of a request, with `null` where a merge patch needs it.
enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// A text, or `null`.
    init(_ text: String?) {
        self = text.map(JSON.string) ?? .null
    }

    /// A time as the API writes it, or `null`.
    init(_ date: Date?) {
        self.init(date.map(Date.apiStyle.format))
    }

    /// The bytes.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension JSON: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension Date {
    /// RFC 3339 in UTC with milliseconds, as the API writes all times.
    static let apiStyle = ISO8601FormatStyle(includingFractionalSeconds: true)
}

extension JSONDecoder {
    /// Reads the API's times.
    static var carillon: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = try? Date.apiStyle.parse(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time of RFC 3339")
            }
            return date
        }
        return decoder
    }
}
