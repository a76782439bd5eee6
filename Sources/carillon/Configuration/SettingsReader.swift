/// Reads settings from the environment, then from the configuration file, and notes every mistake.
struct SettingsReader {
    private let environment: [String: String]
    private let file: ConfigurationFile?
    /// What is wrong, in the order in which it was found.
    private(set) var mistakes: [String] = []
    private var rejected: Set<Setting> = []

    /// A reader of a process's environment; unknown names in it are mistakes already.
    init(environment: [String: String]) {
        self.environment = environment.filter { $0.key.hasPrefix(Setting.environmentPrefix) }
        for name in self.environment.keys.sorted() where name != Setting.fileVariable && Setting(variable: name) == nil
        {
            let known = Setting.allCases.map(\.variable) + [Setting.fileVariable]
            mistakes.append(ConfigurationError.unknown(name, among: known))
        }
        file = self.environment[Setting.fileVariable].map(ConfigurationFile.init(path:))
        mistakes += file?.mistakes ?? []
    }

    /// One setting, read by `parse`; `nil` when it is not set or wrong.
    mutating func value<Value>(
        _ setting: Setting,
        _ parse: (String) throws(InvalidSetting) -> Value
    ) -> Value? {
        guard let text = environment[setting.variable] ?? file?.values[setting] else { return nil }
        do throws(InvalidSetting) {
            guard !text.isEmpty else { throw InvalidSetting("is empty: give it a value or do not set it at all") }
            return try parse(text)
        } catch {
            reject(setting, error)
            return nil
        }
    }

    /// Notes that a setting cannot be used as it is, or that it is missing.
    mutating func reject(_ setting: Setting, _ error: InvalidSetting) {
        mistakes.append("\(name(of: setting)) \(error.problem)")
        rejected.insert(setting)
    }

    /// Notes what is wrong although nobody set it.
    mutating func note(_ mistake: String) { mistakes.append(mistake) }

    func hasRejected(_ setting: Setting) -> Bool { rejected.contains(setting) }

    /// What the operator calls a setting: the variable, unless it was written into the file.
    private func name(of setting: Setting) -> String {
        guard environment[setting.variable] == nil, let file, file.values[setting] != nil else {
            return setting.variable
        }
        return "\(file.path): \(setting.rawValue)"
    }
}
