import CarillonCore
import Foundation

/// What a service says on standard error, one JSON object a line, in a file.
struct ServiceLog: Sendable {
    private static let readiness = "Carillon is ready"

    /// The file.
    let path: String

    /// Where the service listens, by the line in which it says that it is ready; `nil` before.
    var ports: (open: Int, management: Int)? {
        for line in text.split(separator: "\n") where line.contains(Self.readiness) {
            guard case .object(let entry)? = try? JSONValue(parsing: Array(line.utf8)),
                case .object(let metadata)? = entry["metadata"], let open = Self.port(metadata["public"]),
                let management = Self.port(metadata["management"])
            else { continue }
            return (open, management)
        }
        return nil
    }

    /// How many bytes it has.
    var size: Int {
        get throws { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0 }
    }

    /// The last lines.
    var tail: String {
        text.split(separator: "\n").suffix(20).joined(separator: "\n")
    }

    private var text: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    private static func port(_ url: JSONValue?) -> Int? {
        guard case .string(let text)? = url else { return nil }
        return URL(string: text)?.port
    }
}
