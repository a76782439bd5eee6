/// Everything that is wrong with the configuration, so that an operator can put it right in one go.
struct ConfigurationError: Error, CustomStringConvertible {
    /// The exit status of a program that is configured wrongly: `EX_CONFIG` of `sysexits.h`.
    static let exitStatus: Int32 = 78

    /// A line for each mistake: the name of the variable and what it should be, never the value of a secret.
    let mistakes: [String]

    var description: String { mistakes.joined(separator: "\n") }
}
