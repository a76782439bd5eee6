package import Logging
import ServiceLifecycle
import Synchronization

/// Knows the endpoints of all networks, for those who ask with every event: mostly a network has none, and that costs
/// nothing but a look into memory.
///
/// All there are is read every few seconds, if anything has changed, and at once when another replica says that it has. What
/// is older than ``lifetime`` is not answered, so that it is always younger than ``Endpoint/onset``: whoever accepts an event
/// for which an endpoint is in use knows of the endpoint.
package final class EndpointBook: Service {
    /// How old what is known may be.
    package static let lifetime = Duration.seconds(8)
    private static let pollInterval = Duration.seconds(2)
    /// How long a reading may take: whoever asks waits for it.
    private static let patience = Duration.seconds(3)

    private struct State {
        var list: EndpointList?
        /// When the reading began that confirmed the list.
        var readAt: ContinuousClock.Instant?
        var reading: Task<Void, any Error>?
        /// Something was changed since the reading that is under way began.
        var isOutdated = false
    }

    private let store: any EndpointStore
    private let announcements: Announcements
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// A book of what is in `store`.
    package init(
        store: any EndpointStore,
        announcements: Announcements = Announcements(),
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.store = store
        self.announcements = announcements
        self.logger = logger
        self.now = now
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        announcements.subscribe(to: .endpoints) { [weak self] _ in self?.outdate() }
    }

    /// Reads from time to time, and when told to, until graceful shutdown.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await repeating(every: Self.pollInterval, jitter: 0.2) { self.wake.yield() } }
                for await _ in self.wakeups {
                    do {
                        try await self.refresh()
                    } catch {
                        self.logger.debug("Could not read the endpoints", metadata: ["error": "\(error)"])
                    }
                }
                group.cancelAll()
            }
        } onCancelOrGracefulShutdown: {
            self.wake.finish()
        }
    }

    /// A network's endpoints, the oldest first.
    ///
    /// - Throws: What the store throws, when it has to be asked.
    package func endpoints(of network: NetworkID) async throws -> [Endpoint] {
        if let known = known(of: network) { return known }
        try await refresh()
        return known(of: network) ?? state.withLock { $0.list?.endpoints[network] } ?? []
    }

    /// Which of these networks have endpoints, with them.
    package func endpoints(of networks: Set<NetworkID>) async throws -> [NetworkID: [Endpoint]] {
        if isStale { try await refresh() }
        return state.withLock { state in
            guard let list = state.list, !list.endpoints.isEmpty else { return [:] }
            return list.endpoints.filter { networks.contains($0.key) }
        }
    }

    /// All networks that have endpoints, with them.
    package func endpointsOfAll() async throws -> [NetworkID: [Endpoint]] {
        if isStale { try await refresh() }
        return state.withLock { $0.list?.endpoints ?? [:] }
    }

    /// What was known of these networks when it was last looked for, for those who cannot wait.
    package func lastKnown(of networks: Set<NetworkID>) -> [NetworkID: [Endpoint]] {
        state.withLock { state in state.list?.endpoints.filter { networks.contains($0.key) } ?? [:] }
    }

    /// Something was changed here: it is known when this returns, and soon to the other replicas.
    package func changed(in network: NetworkID) async {
        outdate()
        announcements.announce(.endpoints, in: network)
        // What was changed is stored; should reading it fail, that is tried again.
        try? await refresh()
    }

    private var isStale: Bool {
        state.withLock { state in state.readAt.map { now() - $0 >= Self.lifetime } ?? true }
    }

    /// `nil` when what is known is too old.
    private func known(of network: NetworkID) -> [Endpoint]? {
        state.withLock { state in
            guard let list = state.list, let readAt = state.readAt, now() - readAt < Self.lifetime else { return nil }
            return list.endpoints[network] ?? []
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
        defer { state.withLock { $0.reading = nil } }
        let version = state.withLock { $0.list?.version }
        let list = try await withDeadline(Self.patience) { [store] in try await store.endpointList(unless: version) }
        let former = state.withLock { state in
            let former = state.list
            if let list { state.list = list }
            state.readAt = startedAt
            return former
        }
        if let list, let former { tell(list, since: former) }
    }

    /// Says which endpoints were taken into use and out of use.
    private func tell(_ list: EndpointList, since former: EndpointList) {
        for (network, endpoints) in list.endpoints {
            let states = Dictionary(
                (former.endpoints[network] ?? []).map { ($0.id, $0.state) },
                uniquingKeysWith: { $1 }
            )
            for endpoint in endpoints where states[endpoint.id].map({ $0 != endpoint.state }) ?? false {
                logger.notice(
                    "An endpoint is \(endpoint.state.rawValue)",
                    metadata: [
                        "network": "\(network)", "endpoint": "\(endpoint.id)",
                        "reason": "\(endpoint.stateReason ?? "enabled by an admin")",
                    ]
                )
            }
        }
    }
}
