import CarillonCore
import Logging

/// Hands log lines to the process's ``LogOutput``, whole, so that lines of several threads do not mix.
struct StandardErrorLogHandler: LogHandler {
    private let label: String
    private let text: LogText
    private let clock: WallClock
    private let output: LogOutput

    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(
        label: String,
        format: LogFormat,
        level: Logger.Level,
        clock: WallClock = .system,
        output: LogOutput = .standardError
    ) {
        self.label = label
        text = LogText(format: format)
        logLevel = level
        self.clock = clock
        self.output = output
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let line = text.line(of: event, label: label, metadata: all, at: clock.now())
        output.write(line) { [text, label, clock] lost in
            let event = LogEvent(
                level: .warning,
                message: "Lines of this log were dropped: nobody read them",
                metadata: nil,
                source: nil,
                file: #fileID,
                function: #function,
                line: #line
            )
            return text.line(of: event, label: label, metadata: ["lines": "\(lost)"], at: clock.now())
        }
    }
}

extension Logger {
    /// For commands that say themselves what they find.
    static let silent = Logger(label: "carillon") { _ in SwiftLogNoOpLogHandler() }

    static func standardError(_ settings: Settings) -> Logger {
        Logger(label: "carillon") { label in
            StandardErrorLogHandler(label: label, format: settings.logFormat, level: settings.logLevel)
        }
    }
}
