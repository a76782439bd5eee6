package import Logging
import ServiceLifecycle
import Synchronization

/// Asks networks' sources for events and notifications, each when it is time (FACES section H5).
///
/// One replica at a time asks a source, by a lease on its row. The items of a page become durable together with the cursor behind them,
/// so that a crash repeats a page at most, and what is repeated is known by its ids.
package final class Poller: Service {
    package struct Limits: Sendable {
        /// How many sources are asked at a time.
        package var slots = 32
        /// How many of one network, so that those that are slow do not hold up others'.
        package var placesPerNetwork = 2
        /// How many pages of one source are read in a row; the next ones wait for their turn.
        package var pages = 10
        package var timeout = Duration.seconds(10)
        /// How often it is looked whether it is time for a source.
        package var interval = Duration.milliseconds(500)

        package init() {}
    }

    /// What came of a page.
    private enum PageResult {
        /// It is stored; `isLast` when there is no other one behind it.
        case stored(isLast: Bool)
        /// It was not asked for, or not stored, through no fault of the source; it is to be asked for after a while.
        case deferred(Duration, String)
        /// The source is wrong.
        case failed(String)
        /// Somebody else asks the source, or its settings have changed.
        case lost
    }

    /// How long a source waits that has had its pages, or whose page could not be stored now.
    private static let pause = Duration.seconds(1)
    /// How long it waits at the most for its network to be within its rate, which may have been changed by then.
    private static let longestPause = Duration.seconds(60)

    private let queue: any SourceQueue
    private let caller: any EndpointCaller
    private let ingestor: Ingestor
    private let network: @Sendable (NetworkID) async throws -> Network?
    private let rates: (any EventRates)?
    private let limits: Limits
    private let ids: UUIDv7Generator
    private let clock: WallClock
    private let egress: EgressGuard
    private let metrics: PollMetrics
    private let watch: QueueWatch
    private let logger: Logger
    private let busy = Mutex<[NetworkID: Int]>([:])

    /// A poller; `network` knows what holds for a network, and `rates`, if there are any, what it may still post.
    package init(
        queue: any SourceQueue,
        caller: any EndpointCaller,
        ingestor: Ingestor,
        network: @escaping @Sendable (NetworkID) async throws -> Network?,
        rates: (any EventRates)? = nil,
        limits: Limits = Limits(),
        ids: UUIDv7Generator,
        clock: WallClock,
        egress: EgressGuard,
        metrics: PollMetrics,
        watch: QueueWatch,
        logger: Logger
    ) {
        self.queue = queue
        self.caller = caller
        self.ingestor = ingestor
        self.network = network
        self.rates = rates
        self.limits = limits
        self.ids = ids
        self.clock = clock
        self.egress = egress
        self.metrics = metrics
        self.watch = watch
        self.logger = logger
    }

    /// Works until graceful shutdown, when what is being asked is still heard, or cancellation.
    package func run() async throws {
        let (claimed, feed) = AsyncStream.makeStream(of: ClaimedSource.self)
        await withDiscardingTaskGroup { group in
            group.addTask {
                await self.watch.activity.repeating(
                    PollPace(interval: self.limits.interval, jitter: 0.2),
                    looksOnlyWhenDue: true,
                    // Where it cannot be told, it is tried.
                    nextDue: { _ in await self.timeUntilDue() },
                    { for source in await self.claim() { feed.yield(source) } }
                )
                feed.finish()
            }
            for await source in claimed {
                group.addTask { await self.ask(source) }
            }
        }
    }

    /// Takes sources for which there are slots; they count as busy from here on.
    func claim() async -> [ClaimedSource] {
        let busy = busy.withLock { busy in
            busy = busy.filter { $0.value > 0 }
            return busy
        }
        let room = limits.slots - busy.values.reduce(0, +)
        guard room > 0 else { return [] }
        let sources = await watch.attempt(.sources) {
            try await queue.claimSources(limit: room, share: limits.placesPerNetwork, busy: busy)
        }
        guard let sources, !sources.isEmpty else { return [] }
        watch.activity.note()
        self.busy.withLock { busy in
            for source in sources { busy[source.networkID, default: 0] += 1 }
        }
        return sources
    }

    private func timeUntilDue() async -> Duration? {
        do { return try await queue.nextDue() } catch { return .zero }
    }

    /// Asks a source that was taken, whose slot is free again afterwards.
    func ask(_ source: ClaimedSource) async {
        await poll(source)
        busy.withLock { $0[source.networkID, default: 1] -= 1 }
    }

    /// Reads what a source has, a few pages at most, and says when it is asked again.
    private func poll(_ source: ClaimedSource) async {
        var source = source
        var hasAnswered = false
        for _ in 0..<limits.pages {
            // It may also have been taken while the end was announced.
            if Task.isShuttingDownGracefully || Task.isCancelled {
                return await release(source, after: .zero, hasAnswered ? .succeeded : .undecided)
            }
            switch await readPage(of: &source) {
            case .stored(isLast: true):
                return await release(source, after: source.settings.wait(afterFailures: 0), .succeeded)
            case .stored(isLast: false):
                hasAnswered = true
            case .deferred(let wait, let reason):
                metrics.polls.count(.deferred)
                return await release(source, after: wait, .deferred(reason))
            case .failed(let reason):
                metrics.polls.count(.failed)
                let wait = source.settings.wait(afterFailures: source.failures + 1)
                return await release(source, after: wait, .failed(reason))
            case .lost:
                return metrics.polls.count(.lost)
            }
        }
        await release(source, after: Self.pause, .succeeded)
    }

    private func readPage(of source: inout ClaimedSource) async -> PageResult {
        guard let secret = source.secret else { return .failed("the secret cannot be read: see the master key") }
        let network: Network
        do {
            guard let found = try await self.network(source.networkID) else { return .lost }
            network = found
        } catch {
            return unstored(error, of: source)
        }
        if let wait = rates?.wait(of: network) { return Self.overRate(wait) }
        let call = EndpointCall(
            networkID: source.networkID,
            endpointID: EndpointID(trusted: "source \(source.id)"),
            method: .get,
            url: source.url,
            secrets: [secret],
            messageID: "poll_\(ids.next().canonicalText)",
            body: [],
            timeout: limits.timeout
        )
        switch await caller.call(call).result {
        case .failure(let failure) where failure.isBusy: return .deferred(Self.pause, failure.reason)
        case .failure(let failure): return .failed(failure.reason)
        case .success(let reply): return await take(reply, of: &source, in: network)
        }
    }

    private func take(
        _ reply: EndpointAnswer.Reply,
        of source: inout ClaimedSource,
        in network: Network
    ) async -> PageResult {
        let answer: SourceAnswer
        switch (reply.status, reply.body) {
        case (204, _): answer = SourceAnswer()
        case (200, nil): return .failed("the answer is too long")
        case (200, let body?):
            do throws(SourceAnswer.Failure) {
                let notifications = notifications(in: network)
                answer = try SourceAnswer(body, events: EventParser(clock: clock), notifications: notifications)
            } catch {
                return .failed(error.reason)
            }
        default: return .failed(RelayAnswer.words(for: reply.status))
        }
        let count = answer.events.count
        if count > 0, let wait = rates?.wait(counting: count, of: network) { return Self.overRate(wait) }
        do {
            guard try await store(answer, of: source) else {
                rates?.giveBack(events: count, of: network)
                return .lost
            }
        } catch {
            rates?.giveBack(events: count, of: network)
            return unstored(error, of: source)
        }
        // Whoever does not move on would be asked for the same page for ever.
        let hasMoved = answer.cursor.map { $0 != source.cursor } ?? false
        source.cursor = answer.cursor ?? source.cursor
        source.failures = 0
        metrics.polls.count(answer.events.isEmpty ? .empty : .page)
        metrics.items.count(.skipped, by: answer.skippedItems)
        return .stored(isLast: !answer.hasMore || !hasMoved)
    }

    /// Reads notifications as they are posted: browsers may be of the network's push services only.
    private func notifications(in network: Network) -> NotificationParser {
        let addresses = DeviceAddressReader(egress: egress, webPushHosts: network.webPushHosts)
        return NotificationParser(clock: clock, addresses: addresses)
    }

    private static func overRate(_ wait: Duration) -> PageResult {
        .deferred(max(pause, min(wait, longestPause)), "waits: the network posts as much as its eventsPerSecond allow")
    }

    private func unstored(_ error: any Error, of source: ClaimedSource) -> PageResult {
        logger.debug(
            "Could not store what a source answers",
            metadata: ["network": "\(source.networkID)", "error": "\(error)"]
        )
        guard error.isTransient || error is CancellationError else { return .failed("the answer could not be stored") }
        return .deferred(Self.pause, "waits: the database could not be asked")
    }

    /// Stores a page; `false` when the source is not ours any more.
    private func store(_ answer: SourceAnswer, of source: ClaimedSource) async throws -> Bool {
        let events = try await ingestor.incoming(answer.events, for: source.networkID)
        let page = SourcePage(
            events: events,
            cursor: answer.cursor,
            skippedItems: answer.skippedItems,
            error: answer.error
        )
        guard let acceptances = try await queue.accept(page, from: source) else { return false }
        ingestor.count(events, acceptances, of: source.networkID)
        metrics.count(acceptances)
        return true
    }

    private func release(_ source: ClaimedSource, after wait: Duration, _ outcome: PollOutcome) async {
        do {
            try await queue.release(source, after: wait, outcome)
        } catch {
            // Its lease runs out.
            logger.debug(
                "Could not let go a source",
                metadata: ["network": "\(source.networkID)", "error": "\(error)"]
            )
        }
    }
}

extension ClaimedSource {
    /// Where its next page is.
    fileprivate var url: String {
        guard let cursor else { return settings.url }
        let separator = settings.url.contains("?") ? "&" : "?"
        return "\(settings.url)\(separator)cursor=\(cursor.percentEncoded)"
    }
}
