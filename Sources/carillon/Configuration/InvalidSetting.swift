struct InvalidSetting: Error {
    /// Continues a sentence that begins with the setting's name, such as `must be host:port`.
    let problem: String

    init(_ problem: String) {
        self.problem = problem
    }

    /// A problem that shows the value that is wrong, cut to a length that fits on a line.
    static func value(_ value: String, mustBe expectation: String) -> InvalidSetting {
        let longest = 80
        let shown = value.count > longest ? value.prefix(longest) + "…" : value[...]
        return InvalidSetting("is \(shown.debugDescription), but must be \(expectation)")
    }
}
