import CarillonTesting
import ServiceLifecycle
import Synchronization
import Testing

@testable import Postgres

@Suite struct PostgresListenerTests {
    @Test func `notifications arrive in order, from all channels`() async throws {
        try await withListener(on: ["wake up", "other"]) { pool, recorder in
            try await pool.withTransaction { session in
                try session.execute("SELECT pg_notify('wake up', 'one'), pg_notify('other', 'zwei ü')")
                try session.execute("SELECT pg_notify('ignored', 'x'), pg_notify('wake up', '')")
            }
            try await eventually("three come") { recorder.notifications.count == 3 }
            #expect(recorder.notifications == ["wake up: one", "other: zwei ü", "wake up: "])
        }
    }

    @Test func `listening survives the end of its session`() async throws {
        try await withListener(on: ["wake"]) { pool, recorder in
            try await pool.withConnection { session in
                _ = try session.execute(
                    """
                    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                    WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()
                    """
                )
            }
            try await eventually("it reconnects") { recorder.starts == 2 }
            try await pool.withConnection { session in _ = try session.execute("NOTIFY wake, 'again'") }
            try await eventually("it hears again") { recorder.notifications == ["wake: again"] }
        }
    }

    @Test func `a server that is not there does not keep it from ending`() async throws {
        let configuration = try PostgresConfiguration(url: "host=/nonexistent")
        let listener = PostgresListener(
            configuration: configuration,
            channels: ["wake"],
            logger: TestDatabase.logger,
            onNotification: { _ in Issue.record("nobody can have sent it") },
            onReconnect: { Issue.record("nobody is there") }
        )
        let group = ServiceGroup(services: [listener], logger: TestDatabase.logger)
        let running = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        try await running.value
    }

    @Test func `a server that does not let it listen is asked more and more seldom`() async throws {
        var configuration = try await TestCluster.configuration()
        (configuration.reconnectBase, configuration.reconnectLimit) = (.milliseconds(1), .seconds(3_600))
        let log = CollectedLog()
        // No name that anybody can listen on.
        let listener = PostgresListener(
            configuration: configuration,
            channels: [""],
            logger: log.logger,
            onNotification: { _ in Issue.record("nobody can have sent it") },
            onReconnect: { Issue.record("it does not listen") },
            onLoss: { Issue.record("it has not listened") }
        )
        let group = ServiceGroup(services: [listener], logger: TestDatabase.logger)
        let running = Task { try await group.run() }
        func pauses() -> [Int] {
            log.lines("Cannot listen to PostgreSQL").compactMap { $0["pause_ms"].flatMap { Int($0) } }
        }
        try await eventually("it has been sent away seven times") { pauses().count >= 7 }
        for (number, pause) in pauses().prefix(7).enumerated() { #expect(pause * 2 >= 1 << number) }
        await group.triggerGracefulShutdown()
        try await running.value
    }

    private func withListener(
        on channels: [String],
        _ body: (PostgresPool, Recorder) async throws -> Void
    ) async throws {
        let configuration = try await TestCluster.configuration()
        let recorder = Recorder()
        let listener = PostgresListener(
            configuration: configuration,
            channels: channels,
            logger: TestDatabase.logger,
            onNotification: { notification in recorder.record("\(notification.channel): \(notification.payload)") },
            onReconnect: { recorder.recordStart() }
        )
        let group = ServiceGroup(services: [listener], logger: TestDatabase.logger)
        let running = Task { try await group.run() }
        try await eventually("it listens") { recorder.starts == 1 }
        try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) { pool in
            try await body(pool, recorder)
        }
        await group.triggerGracefulShutdown()
        try await running.value
    }
}

private final class Recorder: Sendable {
    private let state = Mutex((notifications: [String](), starts: 0))

    var notifications: [String] { state.withLock(\.notifications) }
    var starts: Int { state.withLock(\.starts) }

    func record(_ notification: String) { state.withLock { $0.notifications.append(notification) } }

    func recordStart() { state.withLock { $0.starts += 1 } }
}
