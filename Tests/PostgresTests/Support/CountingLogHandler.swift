import Logging

/// Counts lines.
struct CountingLogHandler: LogHandler {
    let counter: Counter
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { counter.increment() }
}
