import CarillonCore
import Logging
import ServiceLifecycle

/// Tells the operator when the service is up, and everybody who asks when it begins to stop.
///
/// The last service of the group, so the first to be shut down.
struct Announcer: Service {
    private let readiness: Readiness
    private let settings: Settings
    private let logger: Logger

    init(readiness: Readiness, settings: Settings, logger: Logger) {
        self.readiness = readiness
        self.settings = settings
        var logger = logger
        // Whoever starts the service waits for these lines, so they are written at any level.
        logger.logLevel = min(logger.logLevel, .notice)
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            guard await waits(until: { readiness[.open] != nil && readiness[.management] != nil }) else { return }
            // An embedded server takes a moment: only what lasts is worth a line.
            if await !waits(atMost: .seconds(5), until: { readiness.problem == nil }),
                let problem = readiness.problem
            {
                log("Carillon listens, but is not ready", ["reason": "\(problem)"])
            }
            guard await waits(until: { readiness.problem == nil }) else { return }
            log("Carillon is ready", console)
            try? await gracefulShutdown()
        }
        readiness.shutsDown()
    }

    private func log(_ message: Logger.Message, _ metadata: Logger.Metadata) {
        if !Task.isCancelled { logger.notice(message, metadata: metadata.merging(addresses) { $1 }) }
    }

    private var addresses: Logger.Metadata { ["public": "\(url(.open))", "management": "\(url(.management))"] }

    /// Where a person begins, and what they sign in with unless they were given it another way.
    private var console: Logger.Metadata {
        guard settings.console != nil else { return [:] }
        var metadata: Logger.Metadata = ["console": "\(url(.open))/console"]
        let file = GeneratedSecrets(dataDirectory: settings.dataDirectory).operatorToken
        if settings.operatorToken == nil, file.exists { metadata["console.token"] = "\(file.path)" }
        return metadata
    }

    private func url(_ port: Readiness.Port) -> String { readiness[port].map { "http://\($0)" } ?? "" }
}
