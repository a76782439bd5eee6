import CarillonCore
import Foundation

/// Standard output, in colour where a person looks at it.
struct Terminal: Sendable {
    /// A colour or weight, as ECMA-48 numbers it.
    enum Style: Int, Sendable {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
    }

    private let isColoured: Bool

    /// The terminal of this process; `NO_COLOR` is honoured.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        isColoured =
            isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM"] != "dumb"
    }

    func styled(_ text: String, _ style: Style) -> String {
        isColoured ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Writes a line at once.
    func line(_ text: String = "") {
        print(text)
        fflush(nil)
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
