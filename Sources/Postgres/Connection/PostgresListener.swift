public import Logging
public import ServiceLifecycle
import Synchronization

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
    /// `logger` is told about connections that fail or break, never about payloads; `onNotification` of each notification, in order, on the
    /// connection's thread: it must not block. `onReconnect` is called each time listening begins, the first time included, before any
    /// notification, and `onLoss` each time it has ended.
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
                let (lasted, failure) = await listen()
                guard let failure, !Task.isCancelled else { return }
                // Who is sent away as soon as it listens, or before, has not got any further than who cannot connect.
                failures = lasted > configuration.reconnectLimit ? 1 : failures + 1
                let delay = configuration.backoff.delay(afterFailures: failures, jitter: .random(in: 0..<1))
                logger.warning(
                    "Cannot listen to PostgreSQL",
                    metadata: ["error": "\(failure)", "pause_ms": "\(delay.roundedUpMilliseconds)"]
                )
                try? await Task.sleep(for: delay)
            }
        }
    }

    /// Listens on one connection until it breaks or the task is cancelled; answers for how long it has listened.
    private func listen() async -> (lasted: Duration, failure: PostgresError?) {
        let connection = PostgresConnection(configuration: configuration)
        defer { connection.close() }
        do throws(PostgresError) {
            try await connection.open()
        } catch {
            return (.zero, error)
        }
        let alarm = SocketAlarm()
        let beginning = Mutex<ContinuousClock.Instant?>(nil)
        let result = await withTaskCancellationHandler {
            await connection.listen(
                on: channels,
                until: alarm,
                onStart: {
                    beginning.withLock { $0 = .now }
                    onReconnect()
                },
                onNotification: onNotification
            )
        } onCancel: {
            connection.canceller.cancel()
            alarm?.ring()
        }
        guard let began = beginning.withLock(\.self) else { return (.zero, result) }
        onLoss()
        return (.now - began, result)
    }
}
