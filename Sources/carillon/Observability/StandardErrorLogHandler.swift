import CarillonCore
import Logging
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes log lines to standard error, each with one system call, so that lines of several threads do not mix.
struct StandardErrorLogHandler: LogHandler {
    private static let output = Mutex<Void>(())

    private let label: String
    private let text: LogText
    private let clock: WallClock

    /// What is logged at least.
    var logLevel: Logger.Level
    /// What goes with every line.
    var metadata: Logger.Metadata = [:]
    /// Adds metadata of the current task.
    var metadataProvider: Logger.MetadataProvider?

    /// A handler for the logger of this label.
    init(label: String, format: LogFormat, level: Logger.Level, clock: WallClock = .system) {
        self.label = label
        text = LogText(format: format)
        logLevel = level
        self.clock = clock
    }

    /// A value that goes with every line.
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one event.
    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let line = text.line(of: event, label: label, metadata: all, at: clock.now())
        Self.output.withLock { _ in
            line.withUnsafeBytes { bytes in
                // A log that cannot be written must not stop the service, so the result does not matter.
                _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            }
        }
    }
}
