package import Logging
import Synchronization

/// The accepted events that this replica is going to expand: fair between networks, bounded, in memory.
///
/// Networks of which nothing is being expanded do not wait for those that have much in work: they have a batch of their own.
///
/// Each has a leased row in the inbox, so that what is lost with the process is found again.
package final class FanoutQueue: Entrance {
    /// All events of a network wait in one line.
    struct SoleLane: Hashable, Sendable {}
    typealias Queue = FairQueue<NetworkID, SoleLane, PendingEvent>

    /// How many events of a network are expanded at a time: fewer than all that are, so that another one's have a turn.
    static let eventsPerNetwork = 2 * batchSize
    /// How many events wait at the most, where all that the process has is for one queue.
    package static let usualCapacity = 5_000
    /// How many events share the statements of one expansion.
    static let batchSize = 64
    /// How many batches are expanded at a time.
    static let batches = 3
    /// How long a batch is expanded before another one, that is not full, begins beside it.
    static let patience = Duration.milliseconds(10)

    /// With how many events being expanded, on the average, networks keep newcomers waiting, so that these are served beside them.
    private static let bulk = 8

    /// Events that are expanded together.
    struct Batch: Sendable {
        /// Which one of this queue's it is.
        let number: Int
        let grants: [Queue.Grant]
        let start: ContinuousClock.Instant
        /// Whether it is of networks that had nothing in work.
        let isOfNewcomers: Bool

        /// Whether none of its events is known to have more recipients than a page.
        var isOfFirstPages: Bool { grants.allSatisfy { $0.item.cursor == nil } }
    }

    private struct State {
        var queue: Queue
        var pacing = BatchPacing(maximum: batches, crowd: batchSize, patience: patience)
        var servesNewcomers = false
        /// The batches that are being expanded.
        var inWork: [Int: Batch] = [:]
        var begun = 0
        /// Whose event had no slot since that was asked for.
        var refused: NetworkID?

        /// The next events of networks that would wait for others' batches.
        mutating func takeNewcomers(at now: ContinuousClock.Instant) -> Batch? {
            guard !servesNewcomers, queue.working > 0, queue.hasNewcomers,
                pacing.isCrowded(at: now) || queue.workingPerTenant >= bulk
            else { return nil }
            let grants = queue.next(upTo: batchSize, ofNewcomers: true, at: now)
            servesNewcomers = !grants.isEmpty
            return servesNewcomers ? begin(grants, at: now, ofNewcomers: true) : nil
        }

        mutating func begin(_ grants: [Queue.Grant], at now: ContinuousClock.Instant, ofNewcomers: Bool) -> Batch {
            begun += 1
            let batch = Batch(number: begun, grants: grants, start: now, isOfNewcomers: ofNewcomers)
            inWork[begun] = batch
            return batch
        }
    }

    private let state: Mutex<State>
    private let inbox: any EventInbox
    private let logger: Logger
    private let wake: AsyncStream<Void>.Continuation
    /// Says that there may be something to take, or that the queue was shut down.
    let wakeups: AsyncStream<Void>

    /// A queue for about `capacity` events whose rows are in `inbox`.
    package init(inbox: some EventInbox, capacity: Int = usualCapacity, logger: Logger) {
        self.inbox = inbox
        self.logger = logger
        let limits = FairQueueLimits(
            weight: capacity,
            slots: Self.batches * Self.batchSize,
            slotsPerLane: Self.eventsPerNetwork
        )
        state = Mutex(State(queue: Queue(limits: limits)))
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package var count: Int { state.withLock { $0.queue.count } }

    var room: Int { state.withLock { $0.queue.room } }

    /// The networks that have as many as they may.
    var fullNetworks: [NetworkID] { state.withLock { $0.queue.fullTenants } }

    /// What waits or is being expanded, for renewing leases.
    var events: [PendingEvent] {
        state.withLock { $0.queue.items + $0.inWork.values.flatMap { $0.grants.map(\.item) } }
    }

    /// Keeps slots for accepted events; one without is for whoever claims it, as is one with a large body.
    package func reserve(_ events: [PendingEvent]) -> [Bool] {
        let now = ContinuousClock.now
        return state.withLock { state in
            let isReserved = events.map { state.queue.reserve($0.weight, of: $0.networkID, in: SoleLane(), at: now) }
            if let index = isReserved.firstIndex(of: false) { state.refused = events[index].networkID }
            return isReserved
        }
    }

    /// A network whose events have found no slot since this was called last, so that they are for whoever claims them.
    func takeRefused() -> NetworkID? {
        state.withLock { state in
            defer { state.refused = nil }
            return state.refused
        }
    }

    package func cancel(_ events: [PendingEvent]) {
        state.withLock { state in
            for event in events { state.queue.cancel(event.weight, of: event.networkID, in: SoleLane()) }
        }
    }

    /// Puts events into their slots; at shutdown they are given back to the inbox instead.
    package func submit(_ events: [PendingEvent]) async {
        guard !events.isEmpty else { return }
        let now = ContinuousClock.now
        let refused = state.withLock { state in
            events.filter { !state.queue.fill($0, weight: $0.weight, of: $0.networkID, in: SoleLane(), at: now) }
        }
        wake.yield()
        await giveBack(refused)
    }

    /// Takes the next events, a network's after another's, if it is time for another batch.
    func next() -> Batch? {
        let now = ContinuousClock.now
        return state.withLock { state in
            if let batch = state.takeNewcomers(at: now) { return batch }
            guard state.queue.hasNext, state.pacing.begin(waiting: state.queue.count, at: now) else { return nil }
            let grants = state.queue.next(upTo: Self.batchSize, at: now)
            if grants.isEmpty { state.pacing.end(now) }
            return grants.isEmpty ? nil : state.begin(grants, at: now, ofNewcomers: false)
        }
    }

    /// When to look again, for events wait that may be taken although no batch has ended; `nil` when somebody does already.
    func momentToLookAgain() -> ContinuousClock.Instant? {
        state.withLock { state in
            state.queue.hasNext ? state.pacing.momentToLookAgain(waiting: state.queue.count) : nil
        }
    }

    /// That moment has come.
    func lookAgain() {
        state.withLock { $0.pacing.lookAgain() }
        wake.yield()
    }

    /// A batch is through; its events may be lined up again.
    func finished(_ batch: Batch) {
        let hasNext = state.withLock { state in
            state.inWork[batch.number] = nil
            for grant in batch.grants { state.queue.finished(grant, at: .now) }
            if batch.isOfNewcomers { state.servesNewcomers = false } else { state.pacing.end(batch.start) }
            return state.queue.hasNext
        }
        if hasNext { wake.yield() }
    }

    /// Gives events to whoever claims them first, once `delay` has passed.
    func giveBack(_ events: [PendingEvent], after delay: Duration = .zero) async {
        guard !events.isEmpty else { return }
        do {
            try await inbox.release(events, after: delay)
        } catch {
            logger.debug("Events stay leased until their leases run out", metadata: ["error": "\(error)"])
        }
    }

    /// Leaves what is of these networks, which are on their way elsewhere, to whoever has them next; and takes all others' again.
    package func halt(_ networks: Set<NetworkID>) async {
        let left = state.withLock { $0.queue.halt(networks) }
        await giveBack(left)
    }

    /// Lets nothing in or out any more and gives back what is inside; whose that is.
    func shutDown() async -> Set<NetworkID> {
        let left = state.withLock { $0.queue.shutDown() }
        await giveBack(left)
        return Set(left.map(\.networkID))
    }

    /// Lets nobody wait for ``wakeups`` any longer.
    func close() { wake.finish() }
}

extension PendingEvent {
    /// The largest body, in bytes, of an event that weighs as one.
    private static let usualSize = 16 << 10

    /// About how much memory it takes, in events of the size that is usual.
    fileprivate var weight: Int { 1 + size / Self.usualSize }

    /// About how many bytes of memory it takes beyond what every event does.
    var size: Int {
        let people = event.members.count + event.mentions.count + (event.visibleTo?.count ?? 0)
        let text = event.message?.text.utf8.count ?? 0
        return text + people * 100 + (event.direct?.size ?? 0)
    }
}
