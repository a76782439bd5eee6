package import Logging
import Synchronization

/// The accepted events that this replica is going to expand: fair between networks, bounded, in memory.
///
/// Each has a leased row in the inbox, so that what is lost with the process is found again.
package final class FanoutQueue: Entrance {
    /// All events of a network wait in one line.
    struct SoleLane: Hashable, Sendable {}
    typealias Queue = FairQueue<NetworkID, SoleLane, PendingEvent>

    /// How many events of a network are expanded at a time: fewer than all that are, so that another one's have a turn.
    static let eventsPerNetwork = 2 * batchSize
    /// How many events share the statements of one expansion.
    static let batchSize = 32
    /// How many batches are expanded at a time.
    static let batches = 3

    private let state: Mutex<Queue>
    private let inbox: any EventInbox
    private let logger: Logger
    private let wake: AsyncStream<Void>.Continuation
    /// Says that there may be something to take, or that the queue was shut down.
    let wakeups: AsyncStream<Void>

    /// A queue for about `capacity` events whose rows are in `inbox`.
    package init(inbox: some EventInbox, capacity: Int = 5_000, logger: Logger) {
        self.inbox = inbox
        self.logger = logger
        let limits = FairQueueLimits(
            weight: capacity,
            places: Self.batches * Self.batchSize,
            placesPerLane: Self.eventsPerNetwork
        )
        state = Mutex(Queue(limits: limits))
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How many events wait.
    package var count: Int { state.withLock { $0.count } }

    /// How many more would fit.
    var room: Int { state.withLock { $0.room } }

    /// What waits, for renewing leases.
    var events: [PendingEvent] { state.withLock { $0.items } }

    /// Keeps places for accepted events; one without is for whoever claims it, as is one with a large body.
    package func reserve(_ events: [PendingEvent]) -> [Bool] {
        let now = ContinuousClock.now
        return state.withLock { queue in
            events.map { queue.reserve($0.weight, of: $0.networkID, in: SoleLane(), at: now) }
        }
    }

    /// Gives places back.
    package func cancel(_ events: [PendingEvent]) {
        state.withLock { queue in
            for event in events { queue.cancel(event.weight, of: event.networkID, in: SoleLane()) }
        }
    }

    /// Puts events into their places; at shutdown they are given back to the inbox instead.
    package func submit(_ events: [PendingEvent]) async {
        guard !events.isEmpty else { return }
        let now = ContinuousClock.now
        let refused = state.withLock { queue in
            events.filter { !queue.fill($0, weight: $0.weight, of: $0.networkID, in: SoleLane(), at: now) }
        }
        wake.yield()
        await giveBack(refused)
    }

    /// Takes the next events, a network's after another's.
    func next() -> [Queue.Turn] {
        state.withLock { $0.next(upTo: Self.batchSize, at: .now) }
    }

    /// Events are through; they may be lined up again.
    func finished(_ turns: [Queue.Turn]) {
        state.withLock { queue in
            for turn in turns { queue.finished(turn, at: .now) }
        }
        wake.yield()
    }

    /// Gives events to whoever claims them first.
    func giveBack(_ events: [PendingEvent]) async {
        guard !events.isEmpty else { return }
        do {
            try await inbox.release(events)
        } catch {
            logger.debug("Events stay leased until their leases run out", metadata: ["error": "\(error)"])
        }
    }

    /// Lets nothing in or out any more and gives back what is inside.
    func shutDown() async {
        let left = state.withLock { $0.shutDown() }
        await giveBack(left)
    }

    /// Lets nobody wait for ``wakeups`` any longer.
    func close() { wake.finish() }
}

extension PendingEvent {
    /// The largest body, in bytes, of an event that weighs as one.
    private static let usualSize = 16 << 10

    /// About how much memory it takes, in events of the size that is usual.
    fileprivate var weight: Int {
        let people = event.members.count + event.mentions.count
        return 1 + ((event.message?.text.utf8.count ?? 0) + people * 100) / Self.usualSize
    }
}
