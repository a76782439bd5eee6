public import Logging
public import ServiceLifecycle

/// Listens for notifications on a connection of its own, and reconnects when that breaks.
///
/// Notifications are a wake-up, not a queue: those sent while the connection is down are lost. Whoever depends on them
/// looks at its tables in `onReconnect`, and from time to time.
public struct PostgresListener: Service {
    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let logger: Logger
    private let onNotification: @Sendable (PostgresNotification) -> Void
    private let onReconnect: @Sendable () -> Void
    private let onLoss: @Sendable () -> Void

    /// Describes a listener; ``run()`` starts it.
    ///
    /// - Parameters:
    ///   - configuration: Where PostgreSQL is.
    ///   - channels: The names to LISTEN on.
    ///   - logger: Told about connections that fail or break; never about payloads.
    ///   - onNotification: Called with each notification, in order, on the connection's thread: it must not block.
    ///   - onReconnect: Called each time listening begins, the first time included, before any notification.
    ///   - onLoss: Called each time listening has ended.
    public init(
        configuration: PostgresConfiguration,
        channels: [String],
        logger: Logger,
        onNotification: @escaping @Sendable (PostgresNotification) -> Void,
        onReconnect: @escaping @Sendable () -> Void = {},
        onLoss: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        self.channels = channels
        self.logger = logger
        self.onNotification = onNotification
        self.onReconnect = onReconnect
        self.onLoss = onLoss
    }

    /// Listens until graceful shutdown or cancellation.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var failures = 0
            while !Task.isCancelled {
                let (wasListening, failure) = await listen()
                guard let failure, !Task.isCancelled else { return }
                failures = wasListening ? 1 : failures + 1
                logger.warning("Cannot listen to PostgreSQL", metadata: ["error": "\(failure)"])
                let delay = configuration.backoff.delay(afterFailures: failures, jitter: .random(in: 0..<1))
                try? await Task.sleep(for: delay)
            }
        }
    }

    /// Listens on one connection until it breaks or the task is cancelled.
    private func listen() async -> (wasListening: Bool, failure: PostgresError?) {
        let connection = PostgresConnection(configuration: configuration)
        defer { connection.close() }
        do throws(PostgresError) {
            try await connection.open()
        } catch {
            return (false, error)
        }
        let alarm = SocketAlarm()
        let result = await withTaskCancellationHandler {
            await connection.listen(on: channels, until: alarm, onStart: onReconnect, onNotification: onNotification)
        } onCancel: {
            connection.canceller.cancel()
            alarm?.ring()
        }
        onLoss()
        return (true, result)
    }
}
