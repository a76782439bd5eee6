package import Logging
import ServiceLifecycle
import Synchronization

/// Knows all there is of something of all networks, for those who ask with every request or event: mostly nothing has changed,
/// and that costs nothing but a look into memory.
///
/// All there is is read again every so often, if anything has changed, and at once when another replica says that it has. What
/// is older than its lifetime is not answered: when it cannot be read, whoever asks gets the error.
package final class WatchedList<List: Sendable>: Service {
    /// Reads all there is; `nil` when it is still what was read last.
    package typealias Reading = @Sendable (_ last: List?) async throws -> List?

    private struct State {
        var list: List?
        /// When the reading began that confirmed the list.
        var readAt: ContinuousClock.Instant?
        var reading: Task<Void, any Error>?
        /// Something was changed since the reading that is under way began.
        var isOutdated = false
        /// Somebody has asked since the list was read.
        var isAsked = false
    }

    /// How often it is asked during a rest whether that is over.
    private static var nap: Duration { .seconds(5) }

    private let topic: Announcement.Topic
    private let lifetime: Duration
    private let readingLimit: Duration
    private let pollInterval: Duration
    private let rest: Duration?
    private let mayRest: @Sendable (List) -> Bool
    private let announcements: Announcements
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let readList: Reading
    private let noteChange: @Sendable (_ list: List, _ former: List) -> Void
    private let state: Mutex<State>
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// A list that nothing is known of yet.
    ///
    /// - Parameters:
    ///   - topic: What replicas call it when they tell each other of changes.
    ///   - lifetime: How old what is known may be when somebody is answered.
    ///   - pollInterval: How often it is read, however few ask.
    ///   - rest: How often it is read while nobody asks and others' changes are heard of: whoever asks then has it read, ``lastKnown`` does not.
    ///     `nil` where there is no such rest.
    ///   - mayRest: Whether what was read last is nothing that soon changes.
    ///   - readingLimit: How long whoever asks waits for a reading.
    ///   - initial: What is known before the first reading, however old it is.
    ///   - announcements: Between this replica and the others.
    ///   - logger: Where it is reported that it cannot be read.
    ///   - now: The time.
    ///   - read: Reads all there is.
    ///   - noteChange: Told when a later reading has brought another list.
    package init(
        _ topic: Announcement.Topic,
        lifetime: Duration,
        pollInterval: Duration,
        rest: Duration? = nil,
        mayRest: @escaping @Sendable (List) -> Bool = { _ in true },
        readingLimit: Duration? = nil,
        initial: List? = nil,
        announcements: Announcements,
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        read: @escaping Reading,
        noteChange: @escaping @Sendable (_ list: List, _ former: List) -> Void = { _, _ in }
    ) {
        self.topic = topic
        self.lifetime = lifetime
        // Whoever asks must not be answered what is older than it may be.
        self.readingLimit = readingLimit ?? min(lifetime, .seconds(3))
        state = Mutex(State(list: initial))
        self.pollInterval = pollInterval
        self.rest = rest
        self.mayRest = mayRest
        self.announcements = announcements
        self.logger = logger
        self.now = now
        readList = read
        self.noteChange = noteChange
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        announcements.subscribe(to: topic) { [weak self] _ in self?.outdate() }
    }

    /// Reads from time to time, and when told to, until graceful shutdown.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await repeating(every: self.isResting ? Self.nap : self.pollInterval, jitter: 0.2) {
                        if !self.isResting { self.wake.yield() }
                    }
                }
                for await _ in self.wakeups {
                    do {
                        try await self.refresh()
                    } catch {
                        self.logger.debug(
                            "Could not read what is remembered",
                            metadata: ["topic": "\(self.topic.rawValue)", "error": "\(error)"]
                        )
                        // What was announced, and has not been read, is not left to the end of a rest.
                        await cancelWhenGracefulShutdown { try? await Task.sleep(for: self.pollInterval) }
                        self.wake.yield()
                    }
                }
                group.cancelAll()
            }
        } onCancelOrGracefulShutdown: {
            self.wake.finish()
        }
    }

    /// All there is; `nil` only when it cannot be told from nothing.
    ///
    /// - Throws: What reading it throws, when what is known is too old.
    package func current() async throws -> List? {
        if let fresh { return fresh }
        try await refresh()
        return lastKnown
    }

    /// What was known when it was last looked for, for those who cannot wait.
    package var lastKnown: List? { state.withLock(\.list) }

    /// Something was changed here: it is known when this returns, and soon to the other replicas.
    package func changed(in network: NetworkID) async {
        announcements.announce(topic, in: network)
        await readAnew()
    }

    /// Something may have been changed: it is known when this returns.
    package func readAnew() async {
        // What was changed is stored; should reading it fail, that is tried again.
        try? await reread()
    }

    /// Reads what is there now.
    ///
    /// - Throws: What reading it throws.
    package func reread() async throws {
        outdate()
        try await refresh()
    }

    private var isResting: Bool {
        guard let rest, announcements.areHeard, let list = lastKnown, mayRest(list) else { return false }
        return state.withLock { state in
            guard !state.isAsked, let readAt = state.readAt else { return false }
            return now() - readAt < rest
        }
    }

    /// All there is, where it need not be read; `nil` when what is known is too old.
    package var fresh: List? {
        state.withLock { state in
            state.isAsked = true
            guard let readAt = state.readAt, now() - readAt < lifetime else { return nil }
            return state.list
        }
    }

    private func outdate() {
        state.withLock { $0.isOutdated = true }
        wake.yield()
    }

    /// Reads what is there now; callers at the same time share a reading, unless something was changed since it began.
    private func refresh() async throws {
        while true {
            let (task, isOurs) = state.withLock { state -> (Task<Void, any Error>, Bool) in
                if let reading = state.reading { return (reading, !state.isOutdated) }
                state.isOutdated = false
                // Unstructured on purpose: it is shared, and must not end with whoever began it.
                let task = Task { try await self.read() }
                state.reading = task
                return (task, true)
            }
            if isOurs { return try await task.value }
            _ = await task.result
        }
    }

    private func read() async throws {
        let startedAt = now()
        state.withLock { $0.isAsked = false }
        defer { state.withLock { $0.reading = nil } }
        let last = lastKnown
        let list = try await withDeadline(readingLimit) { [readList] in try await readList(last) }
        state.withLock { state in
            if let list { state.list = list }
            state.readAt = startedAt
        }
        if let list, let last { noteChange(list, last) }
    }
}
