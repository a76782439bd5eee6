package import Logging
import Synchronization

/// The groups that this replica is going to send: fair between networks and their lanes, bounded, in memory.
///
/// Each has a leased row in the outbox, so that what is lost with the process is found again.
package final class SendingQueue: Entrance {
    typealias Queue = FairQueue<NetworkID, Lane, LeasedGroup>

    private struct State {
        var queue: Queue
        /// Whether rows are known to wait in the database for which there was no room.
        var hasOverflow = false
        /// Whose group had no slot last.
        var refused: NetworkID?
        var withheld: Set<NetworkID> = []

        /// The lanes whose slots are all taken, of those that others send to as well.
        func slowLanes(at now: ContinuousClock.Instant) -> [(lane: Lane, enough: Int, isSlow: Bool)] {
            queue.slowLanes(at: now).filter(\.lane.isForOthers)
        }

        /// Whether a lane's pause goes on for a while.
        func isPaused(_ lane: Lane, at now: ContinuousClock.Instant) -> Bool {
            if case .paused(let until, _) = queue.state(of: lane.networkID, lane) { now < until } else { false }
        }
    }

    private static let batchSize = 64
    /// Of a lane that is slow so many groups are claimed at a time all the same: a claim has its price.
    private static let fewest = 16
    /// With fewer groups in memory, a lane of which more waits in the database runs dry.
    private static let dry = 32

    private let state: Mutex<State>
    private let claims: any OutboxClaims
    private let logger: Logger
    private let wake: AsyncStream<Void>.Continuation
    private let wantMore: AsyncStream<Void>.Continuation
    /// Says that there may be something to send.
    let wakeups: AsyncStream<Void>
    /// Says that a lane runs dry while rows wait in the database.
    let wants: AsyncStream<Void>

    package init(claims: some OutboxClaims, limits: FairQueueLimits = .sending, logger: Logger) {
        self.claims = claims
        self.logger = logger
        state = Mutex(State(queue: Queue(limits: limits)))
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (wants, wantMore) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How many groups wait or are being sent.
    var count: Int { state.withLock { $0.queue.count + $0.queue.working } }

    /// How much more would fit, in weights of groups.
    var room: Int { state.withLock { $0.queue.room } }

    /// A network of which rows wait in the database for which there was no room; `nil` when there is none.
    var overflow: NetworkID? { state.withLock { $0.hasOverflow ? $0.refused : nil } }

    var waiting: [LeasedGroup] { state.withLock { $0.queue.items } }

    /// What this replica could not hold if it claimed it.
    ///
    /// Paused lanes are not among it: what is due there has to be met, to be put off to the end of the pause. Left where it is, it
    /// would come before what was tried already, and find out in its place whether an endpoint works again.
    var exclusions: ClaimExclusions {
        let now = ContinuousClock.now
        return state.withLock { state in
            var exclusions = ClaimExclusions()
            exclusions.networks = state.queue.fullTenants + state.withheld
            exclusions.lanes = state.queue.fullLanes(at: now).map(\.lane).filter { !state.isPaused($0, at: now) }
            let slow = state.slowLanes(at: now).filter(\.isSlow).map(\.lane)
            exclusions.lanes = Array(Set(exclusions.lanes).union(slow))
            return exclusions
        }
    }

    /// How many groups of one lane are claimed at a time: few while one is slow, so that others have some to do as well.
    var mostPerLaneAndClaim: Int {
        let now = ContinuousClock.now
        let enough = state.withLock { $0.slowLanes(at: now).map(\.enough).min() }
        return max(Self.fewest, min(Self.batchSize, enough ?? Self.batchSize))
    }
}

// MARK: - In

extension SendingQueue {
    /// Keeps slots for groups; one without is for whoever claims it.
    package func reserve(_ groups: [LeasedGroup]) -> [Bool] {
        reserve(groups, areNew: true)
    }

    private func reserve(_ groups: [LeasedGroup], areNew: Bool) -> [Bool] {
        let now = ContinuousClock.now
        return state.withLock { state in
            let isReserved = groups.map { held in
                let lane = held.group.lane
                // What finds out whether an endpoint works again was tried before: it is claimed.
                if areNew, !lane.isForOthers, state.queue.state(of: lane.networkID, lane) != .sending { return false }
                return state.queue.reserve(
                    held.weight,
                    of: lane.networkID,
                    in: lane,
                    isForOthers: areNew && lane.isForOthers,
                    at: now
                )
            }
            if let index = isReserved.firstIndex(of: false) {
                state.hasOverflow = true
                state.refused = groups[index].group.lane.networkID
            }
            return isReserved
        }
    }

    package func cancel(_ groups: [LeasedGroup]) {
        state.withLock { state in
            for held in groups {
                state.queue.cancel(held.weight, of: held.group.lane.networkID, in: held.group.lane)
            }
        }
    }

    /// Puts groups into their slots; what finds its lane paused or all shut down is given back to the outbox.
    package func submit(_ groups: [LeasedGroup]) async {
        let now = ContinuousClock.now
        let refused = state.withLock { state in
            groups.filter { held in
                let lane = held.group.lane
                return !state.queue.fill(
                    held,
                    weight: held.weight,
                    slots: held.group.slots,
                    of: lane.networkID,
                    in: lane,
                    at: now
                )
            }
        }
        wake.yield()
        await giveBack(refused.map(\.group), after: .zero)
    }

    /// Takes what was claimed, as far as there is room; the rest is given back for a moment.
    func submitClaimed(_ groups: [LeasedGroup]) async {
        let isReserved = reserve(groups, areNew: false)
        await submit(zip(groups, isReserved).filter(\.1).map(\.0))
        let refused = zip(groups, isReserved).filter { !$0.1 }.map(\.0.group)
        // Who waits for the trial of an endpoint, and was tried before, goes before all others when it works. Where a pause has just
        // begun, it is not written yet.
        let now = ContinuousClock.now
        let isNext = state.withLock { state in refused.map { $0.isTriedMessage && !state.isPaused($0.lane, at: now) } }
        await giveBack(zip(refused, isNext).filter(\.1).map(\.0), after: .zero)
        await giveBack(zip(refused, isNext).filter { !$0.1 }.map(\.0), after: .milliseconds(500))
    }

    /// Notes how a claim ended, to know whether more waits in the database.
    func claimed(hasMore: Bool) {
        state.withLock { state in
            // Of slow lanes nobody asked.
            state.hasOverflow = hasMore || state.slowLanes(at: .now).contains(where: \.isSlow)
        }
    }
}

// MARK: - Out

extension SendingQueue {
    /// Takes the next groups to send, a network's after another's.
    func next() -> [Queue.Grant] {
        state.withLock { $0.queue.next(upTo: Self.batchSize, passing: $0.withheld, at: .now) }
    }

    /// The networks of which nothing is sent or claimed for now.
    var withheld: Set<NetworkID> { state.withLock(\.withheld) }

    /// Sends nothing of these networks for now, and of all others again; what waits keeps its slots.
    func withhold(_ networks: Set<NetworkID>) {
        state.withLock { $0.withheld = networks }
        poll()
    }

    /// Gives back the slots that so many targets, which are left of a group, have no use for. Whether there were any.
    func shrink(_ grant: inout Queue.Grant, to count: Int) -> Bool {
        guard count > 0 else { return false }
        let slots = grant.item.group.slots(of: count)
        guard state.withLock({ $0.queue.shrink(&grant, to: slots) }) else { return false }
        wake.yield()
        return true
    }

    func finished(_ grants: [Queue.Grant]) {
        let wantsMore = state.withLock { state in
            let now = ContinuousClock.now
            for grant in grants { state.queue.finished(grant, at: now) }
            guard state.hasOverflow else { return false }
            return grants.contains {
                state.queue.count(of: $0.tenant, in: $0.lane) < Self.dry
                    && !state.queue.isSlow($0.tenant, $0.lane, at: now)
            }
        }
        wake.yield()
        if wantsMore { wantMore.yield() }
    }

    /// Notes renewed leases, and forgets groups whose lease somebody else has; answers those.
    ///
    /// Groups that came in while the renewal was on its way are neither.
    func renewed(
        at now: ContinuousClock.Instant,
        asked: Set<DeliveryGroup.ID>,
        _ leases: RenewedLeases
    ) -> [DeliveryGroup] {
        state.withLock { state in
            var lost: [DeliveryGroup] = []
            state.queue.updateItems { item in
                guard asked.contains(item.group.id), !leases.passed.contains(item.group.id) else { return item }
                guard leases.renewed.contains(item.group.id) else {
                    lost.append(item.group)
                    return nil
                }
                var item = item
                item.leasedAt = now
                return item
            }
            return lost
        }
    }

    /// Looks for due rows, and for groups that waited for a pause to end.
    func poll() {
        wantMore.yield()
        wake.yield()
    }

    /// Gives groups to whoever claims them first.
    func giveBack(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String? = nil) async {
        guard !groups.isEmpty else { return }
        let waits = Dictionary(grouping: groups) { group in
            laneReason == nil ? delay : group.wait(for: delay, afterFailures: group.attempt)
        }
        // Whoever is cancelled gives back all the same.
        await UnitOfWork.beginShared { [claims, logger] in
            do {
                for (delay, groups) in waits { try await claims.release(groups, after: delay, laneReason: laneReason) }
            } catch {
                logger.debug("Deliveries stay leased until their leases run out", metadata: ["error": "\(error)"])
            }
        }
        .value
    }

    /// Leaves what is of these networks, which are on their way elsewhere, to whoever has them next; and takes all others' again.
    package func halt(_ networks: Set<NetworkID>) async {
        let left = state.withLock { $0.queue.halt(networks) }
        await giveBack(left.map(\.group), after: .zero)
    }

    /// Lets nothing in or out any more and gives back what waits; whose that is.
    func shutDown() async -> Set<NetworkID> {
        let left = state.withLock { $0.queue.shutDown() }
        await giveBack(left.map(\.group), after: .zero)
        return Set(left.map(\.group.lane.networkID))
    }

    /// Lets nobody wait for ``wakeups`` any longer.
    func close() {
        wake.finish()
        wantMore.finish()
    }
}

// MARK: - Lanes

extension SendingQueue {
    /// Whether a lane is neither paused nor being tried.
    func isSending(_ lane: Lane) -> Bool {
        state.withLock { $0.queue.state(of: lane.networkID, lane) == .sending }
    }

    /// Stops sending to a lane; answers what waits in it.
    func pause(_ lane: Lane, for length: Duration, reason: String) -> [DeliveryGroup] {
        state.withLock { state in
            state.queue.pause(lane.networkID, lane, until: .now + length, reason: reason).map(\.group)
        }
    }

    func resume(_ lane: Lane) {
        state.withLock { $0.queue.resume(lane.networkID, lane) }
        wake.yield()
    }

    /// The lanes that groups wait in or are sent to, with whether they are being sent to.
    var activeLanes: Set<Lane> { state.withLock { Set($0.queue.activeLanes.map(\.lane)) } }
}

extension Lane {
    /// Whether what would wait here for long is left to other replicas. Messages to an endpoint are not: what was tried there before goes
    /// before all others, so that it has to be met.
    fileprivate var isForOthers: Bool { endpoint == nil }
}

extension FairQueueLimits {
    /// What one replica holds and sends at a time, in weights and slots of groups: of one lane about 60 full groups, or 2,000 of a
    /// single device, wait, and eight full ones, or ``slotsPerLane`` of a few devices, are being sent. Of a lane that has all its slots
    /// taken no more wait than come to their turn within half a second.
    package static let sending = FairQueueLimits(
        weight: 256_000,
        weightPerLane: 32_000,
        slots: 256 * DeliveryGroup.mostSlots,
        slotsPerLane: 8 * DeliveryGroup.mostSlots,
        mostSlots: 1024 * DeliveryGroup.mostSlots,
        patience: .milliseconds(500)
    )
}

extension DeliveryGroup {
    /// How many slots a full group takes while it is sent.
    package static let mostSlots = 32
    /// For so many devices it takes one, which is what a full group comes to.
    private static let devicesPerSlot = 3
    /// So many messages of one row are on their way at a time.
    package static let messagesAtATime = 8
    /// So that about 32 messages to one endpoint are on their way at a time.
    private static let placesPerMessage = 8

    /// How many slots it takes while it is sent.
    ///
    /// What counts is how many requests are on their way at a time, where a connection carries many. A server of webhooks has a
    /// connection for each: to it eight groups go, however small they are. Messages take a slot as they are sent.
    package var slots: Int { slots(of: targets.count) }

    fileprivate func slots(of count: Int) -> Int {
        if case .messages = payload { return Self.placesPerMessage * min(count, Self.messagesAtATime) }
        let isServer = !lane.provider.kind.isPushService && lane.provider.kind.lanes == .byHost
        if isServer { return Self.mostSlots }
        return min(Self.mostSlots, 1 + (count - 1) / Self.devicesPerSlot)
    }
}
