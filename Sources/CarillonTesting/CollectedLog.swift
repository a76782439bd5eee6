package import Logging
import Synchronization

package final class CollectedLog: Sendable {
    private let entries = Mutex<[(message: String, metadata: [String: String])]>([])

    private let heard: @Sendable () -> Void

    /// - Parameter heard: What is done when something was told.
    package init(_ heard: @escaping @Sendable () -> Void = {}) {
        self.heard = heard
    }

    /// Writes to it, from `notice` on.
    package var logger: Logger { logger(from: .notice) }

    package func logger(from level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in Handler(collected: self) }
        logger.logLevel = level
        return logger
    }

    package var text: String { entries.withLock { $0.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n") } }

    /// What was told besides, each time that this was.
    package func lines(_ message: String) -> [[String: String]] {
        entries.withLock { $0.filter { $0.message == message }.map(\.metadata) }
    }

    private struct Handler: LogHandler {
        let collected: CollectedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
            collected.entries.withLock { $0.append((event.message.description, all.mapValues { "\($0)" })) }
            collected.heard()
        }
    }
}
