package import CarillonCore
package import Logging
package import Postgres
import ServiceLifecycle

/// Carries announcements between the replicas of one database by LISTEN and NOTIFY.
///
/// It listens on a connection of its own, straight to PostgreSQL: a pooler that hands sessions out by transaction gives
/// notifications to whoever has the session that listens. So nobody listens through one, unless the operator says that it may be.
/// What may have been missed while there was no connection is told as a change of everything once there is one again.
/// - SeeAlso: PostgreSQL documentation, "NOTIFY"
package struct AnnouncementNotifier: Service {
    /// The least time between two notifications: they wait in one line for all databases of a server.
    private static let interval = Duration.milliseconds(50)
    /// How long to wait after a notification that could not be sent.
    private static let patience = Duration.milliseconds(500)
    private static let channel = "carillon"

    private let announcements: Announcements
    private let pool: PostgresPool
    private let configuration: PostgresConfiguration
    private let isChosen: Bool
    private let logger: Logger
    /// Tells this replica's own notifications from those of others.
    private let sender = String(UInt64.random(in: .min ... .max), radix: 36)

    /// A notifier that listens where `configuration` says, and notifies by a statement of its own on `pool` each time. Where the operator has
    /// not chosen that way for announcements, a pooler is looked out for.
    package init(
        _ announcements: Announcements,
        pool: PostgresPool,
        configuration: PostgresConfiguration,
        isChosen: Bool = false,
        logger: Logger
    ) {
        self.announcements = announcements
        self.pool = pool
        self.configuration = configuration
        self.isChosen = isChosen
        self.logger = logger
    }

    /// Listens and notifies until graceful shutdown; what waits then is told before it returns.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listen() }
            group.addTask { await notifyUntilShutdown() }
            try await group.waitForAll()
        }
    }

    private func listen() async throws {
        guard await !sharesSessions() else {
            logger.warning(
                "Changes that other replicas make are found late: a pooler carries no announcements",
                metadata: ["remedy": "set CARILLON_ANNOUNCEMENTS_URL to the same database without the pooler"]
            )
            return
        }
        try await listener.run()
    }

    /// Whether a pooler is in the way, once there is an answer.
    private func sharesSessions() async -> Bool {
        if isChosen { return false }
        return await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                if let mode = try? await pool.poolMode() { return mode.sharesSessions }
                try? await Task.sleep(for: Self.patience)
            }
            return false
        }
    }

    private var listener: PostgresListener {
        var configuration = configuration
        // It is idle for as long as nothing happens, and what a role has here would end it each time.
        configuration.sessionSettings["idle_session_timeout"] = "0"
        return PostgresListener(
            configuration: configuration,
            channels: [Self.channel],
            logger: logger,
            onNotification: { [announcements, sender] notification in
                guard let message = AnnouncementMessage(notification.payload), message.sender != sender else { return }
                announcements.deliver(message.batch)
            },
            onReconnect: { [announcements] in
                announcements.hear(true)
                announcements.deliver(.everything)
            },
            onLoss: { [announcements] in announcements.hear(false) }
        )
    }

    private func notifyUntilShutdown() async {
        await cancelWhenGracefulShutdown {
            for await _ in announcements.wakeups {
                let isSent = await notify()
                try? await Task.sleep(for: isSent ? Self.interval : Self.patience)
            }
        }
        _ = await notify()
    }

    /// Tells all replicas that something of a network was changed, for a program that is none of them.
    package static func tell(_ topics: some Sequence<Announcement.Topic>, in network: NetworkID, by pool: PostgresPool)
        async throws
    {
        let batch = AnnouncementBatch.some(Set(topics.map { Announcement($0, in: network) }))
        try await notify(AnnouncementMessage(from: "command", batch), by: pool)
    }

    private static func notify(_ message: AnnouncementMessage, by pool: PostgresPool) async throws {
        // Notifications are committed one after the other, so none waits for the disk.
        try await pool.execute(
            "SELECT set_config('synchronous_commit', 'off', true), pg_notify(\(channel), \(message.text))"
        )
    }

    /// Tells the others what waits; `false` when that has failed.
    private func notify() async -> Bool {
        guard let batch = announcements.take() else { return true }
        do {
            try await Self.notify(AnnouncementMessage(from: sender, batch), by: pool)
            return true
        } catch {
            announcements.putBack(batch)
            logger.debug("Could not tell other replicas of changes", metadata: ["error": "\(error)"])
            return false
        }
    }
}
