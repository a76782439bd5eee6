package import Logging
import ServiceLifecycle
import Synchronization

/// Expands accepted events into deliveries: recipients, toggles, rendering, and one commit.
///
/// Events come from this replica's own ingest in memory; those that nobody works on are claimed by polling.
package final class FanoutWorker: Service {
    let queue: FanoutQueue
    let inbox: any EventInbox
    private let recipients: any RecipientSource
    let expander: Expander
    private let outbox: any OutboxWriter
    let sending: any Entrance<LeasedGroup>
    private let endpoints: @Sendable (Set<NetworkID>) async throws -> [NetworkID: [Endpoint]]
    private let faces: @Sendable () async throws -> FaceIndex?
    let ids: UUIDv7Generator
    private let metrics: PipelineMetrics
    private let statistics: StatisticsRecorder
    let watch: QueueWatch
    let interceptor: Interceptor?
    /// Events about which endpoints are asked: nobody else waits with them.
    let questions: AsyncStream<InterceptionQuestion>
    private let question: AsyncStream<InterceptionQuestion>.Continuation
    /// Those events, for renewing their leases.
    let asked = Mutex<[EventID: PendingEvent]>([:])
    let logger: Logger

    /// In bytes, of what is told of a failure.
    private static let longestReason = 500
    /// How long events rest that were tried for as long as patience lasts.
    private static let rest = Duration.seconds(5)
    /// How long they rest until somebody may have repaired what they need.
    private static let restUntilRepair = Duration.seconds(60)
    /// How long they are tried while others wait for nothing but them.
    private static let splitPatience = Duration.seconds(2)
    private let patience: Duration

    /// A worker that takes events from `queue`, commits their deliveries to `outbox` and hands them to `sending`; `endpoints`
    /// knows those of some networks, `faces` which apps are another system's, `interceptor` asks those that want to be, `ids` makes the ids of what they are told,
    /// `patience` is how long events are tried that cannot be expanded for now, and `watch` is told how claims go.
    package init(
        queue: FanoutQueue,
        inbox: some EventInbox,
        recipients: some RecipientSource,
        expander: Expander,
        outbox: some OutboxWriter,
        sending: some Entrance<LeasedGroup>,
        endpoints: @escaping @Sendable (Set<NetworkID>) async throws -> [NetworkID: [Endpoint]] = { _ in [:] },
        faces: @escaping @Sendable () async throws -> FaceIndex? = { nil },
        interceptor: Interceptor? = nil,
        ids: UUIDv7Generator = UUIDv7Generator(),
        patience: Duration = .seconds(40),
        metrics: PipelineMetrics,
        statistics: StatisticsRecorder = StatisticsRecorder(),
        watch: QueueWatch,
        logger: Logger
    ) {
        self.queue = queue
        self.inbox = inbox
        self.recipients = recipients
        self.expander = expander
        self.outbox = outbox
        self.sending = sending
        self.endpoints = endpoints
        self.faces = faces
        self.interceptor = interceptor
        (questions, question) = AsyncStream.makeStream()
        self.ids = ids
        self.patience = patience
        self.metrics = metrics
        self.statistics = statistics
        self.watch = watch
        self.logger = logger
    }

    /// Works until graceful shutdown or cancellation; what is in hand is finished, what waits is given back.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.claimOrphans() }
                group.addTask { await self.renewLeases() }
                group.addTask { await self.askQuestions() }
                await self.expandEvents()
                self.question.finish()
            }
        } onCancelOrGracefulShutdown: {
            self.queue.close()
            self.interceptor?.close()
        }
        for network in await queue.shutDown() { watch.activity.leave(network) }
    }

    /// Expands a few batches at a time: a batch that takes long keeps only its own network's events waiting.
    private func expandEvents() async {
        await withDiscardingTaskGroup { group in
            for await _ in queue.wakeups {
                while let batch = queue.next() {
                    group.addTask(on: batch.isOfFirstPages ? inbox.freeThread() : nil) {
                        try await self.expandAtOnce(batch)
                        self.finished(batch)
                    } otherwise: { failure in
                        await self.expand(batch, after: failure)
                        self.finished(batch)
                    }
                }
                if let moment = queue.momentToLookAgain() {
                    group.addTask {
                        try? await Task.sleep(until: moment)
                        self.queue.lookAgain()
                    }
                }
            }
        }
    }

    private func expandAtOnce(_ batch: FanoutQueue.Batch) async throws {
        try await UnitOfWork.$isUrgent.withValue(batch.isOfNewcomers) {
            await lineUp(try await expandOnce(batch.grants.map(\.item), nil, prefetches: false).unfinished)
        }
    }

    private func expand(_ batch: FanoutQueue.Batch, after failure: (any Error)?) async {
        await UnitOfWork.$isUrgent.withValue(batch.isOfNewcomers) {
            // A large audience's further pages are read alone: nobody else's event waits for them.
            let events = batch.grants.map(\.item)
            let small = events.filter { $0.cursor == nil }
            if !small.isEmpty { await self.expand(small, after: failure) }
            for event in events where event.cursor != nil {
                await self.expand([event], prefetches: events.count == 1 && !batch.isOfNewcomers)
            }
        }
    }

    private func finished(_ batch: FanoutQueue.Batch) {
        queue.finished(batch)
        metrics.waiting(events: queue.count)
    }

    /// Expands a page of each event of a batch; while the database is away it is tried again, and given back after a while.
    ///
    /// - Parameters:
    ///   - events: The events.
    ///   - prefetches: Whether further pages of a single one follow at once while nobody else's events wait.
    ///   - failure: What has come of trying it; `nil` when it was not tried yet.
    ///   - split: The other shares of a batch, whose grants end with these.
    func expand(
        _ events: [PendingEvent],
        prefetches: Bool = false,
        after failure: (any Error)? = nil,
        of split: SplitBatch? = nil
    ) async {
        let clock = ContinuousClock()
        var (events, prefetched) = (events, nil as PrefetchedPage?)
        var start = clock.now
        var backoff = Duration.milliseconds(50)
        var failure = failure
        while !Task.isCancelled {
            do {
                if let former = failure.take() { throw former }
                (events, prefetched) = try await expandOnce(events, prefetched, prefetches: prefetches)
                guard prefetched != nil, !Task.isCancelled else {
                    await lineUp(events)
                    return
                }
                (start, backoff) = (clock.now, .milliseconds(50))
            } catch
                where error.isTransient && clock.now - start < patience(of: split)
                && !Task.isShuttingDownGracefully
            {
                logger.debug("Expanding events again", metadata: events.metadata(error))
                prefetched = nil
                await note(error, of: events)
                try? await Task.sleep(for: backoff)
                backoff = min(backoff * 2, .seconds(2))
                let shares = Dictionary(grouping: events, by: \.networkID).values
                if shares.count > 1 { return await expandApart(shares) }
            } catch  where error.isTransient {
                // Nothing is wrong with them: left to their leases they would be set aside after some minutes of this.
                logger.warning("Events are put off that cannot be expanded for now", metadata: events.metadata(error))
                await note(error, of: events)
                return await queue.giveBack(events, after: Task.isShuttingDownGracefully ? .zero : Self.rest)
            } catch  where events.count > 1 {
                for event in events { await expand([event], of: split) }
                return
            } catch {
                logger.error("Could not expand an event", metadata: events.metadata(error))
                await note(error, of: events)
                if error.awaitsRepair { return await queue.giveBack(events, after: Self.restUntilRepair) }
                // The lease runs out, and the event is claimed and tried again, at most a bounded number of times.
                return
            }
        }
    }

    /// One network's trouble must not hold up the others; what troubles all of them is waited for as by one alone.
    private func expandApart(_ shares: some Collection<[PendingEvent]>) async {
        let split = SplitBatch()
        await withDiscardingTaskGroup { group in
            for share in shares {
                group.addTask {
                    await self.expand(share, of: split)
                    split.isWaiting = true
                }
            }
        }
    }

    private func patience(of split: SplitBatch?) -> Duration {
        split?.isWaiting == true ? min(patience, Self.splitPatience) : patience
    }

    /// Lets those who ask about these events know what is wrong.
    func note(_ error: any Error, of events: [PendingEvent]) async {
        metrics.failedExpansion(of: events.count)
        let reason = "\(error)".shortened(toCharacters: Self.longestReason, bytes: Self.longestReason)
        do {
            try await inbox.noteFailure(of: events, reason: reason)
        } catch {
            logger.debug("Could not note why events are late", metadata: ["error": "\(error)"])
        }
    }

    /// Expands a page of each event; answers those that have more, and, of a single one with a large audience, the next page if it
    /// was read meanwhile.
    private func expandOnce(
        _ events: [PendingEvent],
        _ known: PrefetchedPage?,
        prefetches: Bool
    ) async throws -> (unfinished: [PendingEvent], prefetched: PrefetchedPage?) {
        let endpoints = try await endpoints(Set(events.map(\.networkID)))
        let pages =
            if let known { [known.page] } else { try await recipients.recipients(for: events.map(RecipientQuery.init)) }
        let readAt = known?.readAt ?? .now
        // When others' events wait, it is their turn.
        guard prefetches, let event = events.first, let cursor = pages.first?.next, queue.count == 0,
            !Task.isShuttingDownGracefully
        else { return (try await write(pages, of: events, for: endpoints, readAt: readAt), nil) }
        async let following = page(of: event, after: cursor)
        let unfinished = try await write(pages, of: events, for: endpoints, readAt: readAt)
        return (unfinished, unfinished.isEmpty ? nil : try? await following)
    }

    private func page(of event: PendingEvent, after cursor: PageCursor) async throws -> PrefetchedPage {
        var event = event
        event.cursor = cursor
        return PrefetchedPage(page: try await recipients.page(for: RecipientQuery(event)), readAt: .now)
    }

    /// Expands the pages of the first events and commits them; answers the events that have more.
    private func write(
        _ pages: [RecipientPage],
        of events: [PendingEvent],
        for endpoints: [NetworkID: [Endpoint]],
        readAt: ContinuousClock.Instant
    ) async throws -> [PendingEvent] {
        let rest = Array(events.dropFirst(pages.count))
        var (events, pages) = (Array(events.prefix(pages.count)), pages)
        let faces = try await faces()
        var expansions = zip(events, pages).map { expander.expand($0, $1, faces: faces) }
        let open = takeOut(&events, &pages, &expansions, endpoints)
        var held: [[LeasedGroup]] = []
        for index in expansions.indices {
            let (readPoint, acceptedAt) = (pages[index].readPoint, expansions[index].event.acceptedAt)
            held.append(
                reserve(&expansions[index].groups, readAt: readAt, acceptedAt: acceptedAt) { _ in readPoint }
            )
        }
        let messages = addMessages(to: &expansions, of: events, for: endpoints, pages, readAt: readAt)
        let written: [Bool]
        do {
            written = try await outbox.enqueue(expansions)
        } catch {
            sending.cancel(held.flatMap(\.self) + messages)
            throw error
        }
        await submit(messages, of: zip(expansions, written).filter(\.1).map(\.0))
        var unfinished = rest
        var news: [NetworkID: StatisticsFigures] = [:]
        for (index, expansion) in expansions.enumerated() {
            guard written[index] else {
                sending.cancel(held[index])
                metrics.lostLease()
                continue
            }
            metrics.expanded(expansion.event.tally, since: events[index].tally)
            if expansion.event.event.trace != nil {
                logger.debug("A page of an event was expanded", metadata: expansion.event.metadata)
            }
            news[expansion.event.networkID, default: StatisticsFigures()].count(expansion.event, since: events[index])
            if !held[index].isEmpty { await sending.submit(held[index]) }
            guard expansion.next != nil else { continue }
            var event = expansion.event
            event.isVerdictStored = true
            unfinished.append(event)
        }
        statistics.add(news)
        // Asked beside everything else, and not before the others are written: should that fail, all of them are expanded again.
        for question in open {
            asked.withLock { $0[question.event.id] = question.event }
            self.question.yield(question)
        }
        return unfinished
    }

    /// Marks the groups for which there is room in memory as leased to this replica; answers those.
    func reserve(
        _ groups: inout [DeliveryGroup],
        readAt: ContinuousClock.Instant,
        acceptedAt: Timestamp? = nil,
        readPoint: (DeliveryGroup) -> ReadPoint
    ) -> [LeasedGroup] {
        guard !groups.isEmpty else { return [] }
        var held = groups.map { LeasedGroup(group: $0, readPoint: readPoint($0), readAt: readAt) }
        let isReserved = sending.reserve(held)
        for index in groups.indices {
            groups[index].leased = isReserved[index]
            held[index].group.leased = isReserved[index]
            held[index].acceptedAt = acceptedAt
            held[index].leasedAt = .now
        }
        return held.filter(\.group.leased)
    }
}

/// The shares of a batch that are expanded apart.
final class SplitBatch: Sendable {
    private let areSomeThrough = Mutex(false)

    /// Whether some are through, and wait for the others.
    var isWaiting: Bool {
        get { areSomeThrough.withLock(\.self) }
        set { areSomeThrough.withLock { $0 = newValue } }
    }
}

/// The page of an event's recipients that comes next, read while the one before is written, and when it was read.
private struct PrefetchedPage {
    let page: RecipientPage
    let readAt: ContinuousClock.Instant
}

extension RecipientQuery {
    fileprivate init(_ pending: PendingEvent) {
        self.init(
            networkID: pending.networkID,
            eventID: pending.id,
            mark: pending.mark,
            event: pending.event,
            after: pending.cursor
        )
    }
}

extension StatisticsFigures {
    /// Counts the users of a page of an event's recipients, by the event before the page and behind it.
    fileprivate mutating func count(_ event: PendingEvent, since before: PendingEvent) {
        guard event.tally != before.tally else { return }
        var counts = Recipients()
        counts.notified = event.tally.notified - before.tally.notified
        counts.noDevice = event.tally.noDevice - before.tally.noDevice
        counts.intercepted = event.tally.intercepted - before.tally.intercepted
        for (level, count) in event.tally.suppressed {
            let change = count - before.tally.suppressed[level, default: 0]
            if change != 0 { counts.suppressed[level] = change }
        }
        let subject = Subject(type: event.event.type, module: event.event.direct?.module ?? .chat)
        recipients[subject, default: Recipients()].add(counts)
    }
}
