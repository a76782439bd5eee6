import CarillonCore

/// Everything that is wrong with the configuration, so that an operator can put it right in one go.
struct ConfigurationError: Error, CustomStringConvertible {
    /// The exit status of a program that is configured wrongly: `EX_CONFIG` of `sysexits.h`.
    static let exitStatus: Int32 = 78

    /// A line for each mistake: the name of the variable and what it should be, never the value of a secret.
    let mistakes: [String]

    var description: String { mistakes.joined(separator: "\n") }
}

struct InvalidSetting: Error {
    /// Continues a sentence that begins with the setting's name, such as `must be host:port`.
    let problem: String

    init(_ problem: String) {
        self.problem = problem
    }

    /// A problem that shows the value that is wrong, cut to a length that fits on a line, and without the user and password of a URL.
    static func value(_ value: String, mustBe expectation: String) -> InvalidSetting {
        let longest = 80
        let value = value.replacing(#/://.*@/#, with: "://…@")
        let shown = value.count > longest ? value.prefix(longest) + "…" : value[...]
        return InvalidSetting("is \(shown.debugDescription), but must be \(expectation)")
    }
}

extension ConfigurationError {
    /// Says that a name is unknown, and which one was probably meant: one sentence without a full stop.
    static func unknown(_ name: String, among known: [String]) -> String {
        if let meant = ClosestName(to: name, among: known), meant.isSimilar {
            return "\(name) is unknown; did you mean \(meant.name)?"
        }
        return "\(name) is unknown; known are \(known.joined(separator: ", "))"
    }
}
