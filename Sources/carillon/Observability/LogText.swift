import CarillonCore
import Logging

/// Puts one log event into one line, for people or for machines.
struct LogText: Sendable {
    /// The longest value of the metadata, in characters: what comes from outside must not fill the disk.
    private static let longestValue = 1_000

    let format: LogFormat

    /// The line of an event, with its line feed.
    func line(of event: LogEvent, label: String, metadata: Logger.Metadata, at time: Timestamp) -> [UInt8] {
        var pairs = metadata.map { ($0.key, "\($0.value)") }.sorted { $0.0 < $1.0 }
        if let error = event.error { pairs.append(("error", "\(error)")) }
        let values = pairs.map { (key: $0.0, value: String($0.1.prefix(Self.longestValue))) }
        return switch format {
        case .text: text(of: event, values: values, at: time)
        case .json: json(of: event, label: label, values: values, at: time)
        }
    }

    private func text(
        of event: LogEvent,
        values: [(key: String, value: String)],
        at time: Timestamp
    ) -> [UInt8] {
        var line = "\(time) \(event.level.rawValue) \(event.message)"
        for (key, value) in values {
            let isPlain = !value.isEmpty && value.unicodeScalars.allSatisfy(\.isPlainInLog)
            line += " \(key)=\(isPlain ? value : value.quotedInLog)"
        }
        return Array(line.utf8) + [UInt8(ascii: "\n")]
    }

    private func json(
        of event: LogEvent,
        label: String,
        values: [(key: String, value: String)],
        at time: Timestamp
    ) -> [UInt8] {
        var metadata = JSONObject()
        for (key, value) in values { metadata[key] = .string(value) }
        let object: JSONValue = [
            "time": .string("\(time)"), "level": .string(event.level.rawValue), "logger": .string(label),
            "message": .string("\(event.message)"), "metadata": values.isEmpty ? nil : .object(metadata),
        ]
        return object.serialized + [UInt8(ascii: "\n")]
    }
}

extension String {
    /// Quoted, with escapes for all that a terminal may take for orders, or that puts text in another order than it is written in.
    fileprivate var quotedInLog: String {
        debugDescription.unicodeScalars.reduce(into: "") { quoted, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                quoted += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    /// Whether it can stand unquoted in a line that is split at spaces and equals signs.
    fileprivate var isPlainInLog: Bool {
        isASCII ? (0x21...0x7E).contains(value) && self != "\"" && self != "=" : properties.isAlphabetic
    }
}
