import CarillonCore
import NIOCore
import Synchronization

/// Slots for the connections that clients use, in whatever version of HTTP: never more than so many, with a share for each
/// network, and within it for each host.
///
/// Users choose hosts, and each connection takes a file descriptor, of which the process has few. A slot is taken by an
/// HTTP/1.1 connection for as long as it carries a request, and by an HTTP/2 connection, which carries many, for as long as it
/// is open. Whoever needs a slot waits for its turn: turns go round the networks, and then round a network's hosts. So hosts
/// that take connections and never answer hold up nobody but themselves.
package final class OpenConnections: Sendable {
    typealias Queue = FairQueue<NetworkID?, Origin, Ticket>

    /// Somebody who waits for a slot.
    struct Ticket: Sendable {
        let number: UInt64
        /// For whose request it is; `nil` for a connection that all share.
        let lane: Lane?
        /// Taken out when it is kept: a slot that held the promise of itself would never be given up.
        var promise: EventLoopPromise<Slot>?
    }

    /// Leave to use a connection, until it is given back.
    final class Slot: Sendable {
        fileprivate let grant: Queue.Grant
        private let owner: OpenConnections
        private let isTaken = Atomic(true)

        fileprivate init(_ grant: Queue.Grant, of owner: OpenConnections) {
            self.grant = grant
            self.owner = owner
        }

        deinit { giveBack() }

        /// Lets the next one in line have it.
        func giveBack() {
            guard isTaken.exchange(false, ordering: .acquiringAndReleasing) else { return }
            owner.finished(grant)
        }
    }

    /// A connection that has a slot and carries no request.
    fileprivate struct Idle {
        let since: UInt64
        let grant: Queue.Grant
        let retire: @Sendable () -> Bool
    }

    /// Whose slots are counted: those of one lane at one host.
    private struct Share: Hashable {
        let origin: Origin
        let lane: Lane?

        init(_ grant: Queue.Grant) {
            origin = grant.lane
            lane = grant.item.lane
        }

        init(_ origin: Origin, _ lane: Lane?) {
            self.origin = origin
            self.lane = lane
        }
    }

    fileprivate struct State {
        var queue: Queue
        private var shares: [Share: Int] = [:]
        /// The slots of the connections that keep one until they close.
        var open: [ObjectIdentifier: Queue.Grant] = [:]
        var idle: [ObjectIdentifier: Idle] = [:]
        var counter: UInt64 = 0

        init(queue: Queue) { self.queue = queue }

        mutating func next() -> UInt64 {
            counter += 1
            return counter
        }

        /// Lines somebody up; answers all whose turn it is then, and `nil` when too many wait.
        mutating func admit(_ ticket: Ticket, for origin: Origin) -> [Queue.Grant]? {
            queue.admit(ticket, of: origin.network, in: origin, at: .now).map { counted($0) }
        }

        /// A slot is given back; answers all whose turn it is then.
        mutating func handOn(_ grant: Queue.Grant) -> [Queue.Grant] {
            let share = Share(grant)
            let rest = shares[share, default: 1] - 1
            shares[share] = rest > 0 ? rest : nil
            return counted(queue.handOn(grant, at: .now))
        }

        private mutating func counted(_ grants: [Queue.Grant]) -> [Queue.Grant] {
            for grant in grants { shares[Share(grant), default: 0] += 1 }
            return grants
        }

        /// Whether a lane has slots of a host itself, or shares a connection to it.
        func hasSlots(_ lane: Lane?, at origin: Origin) -> Bool {
            guard lane != nil else { return queue.slots(of: origin.network, in: origin) > 0 }
            return shares[Share(origin, lane)] != nil || shares[Share(origin, nil)] != nil
        }
    }

    let maximum: Int
    private let state: Mutex<State>

    /// Slots for so many connections at a time, those included that are being opened.
    package init(maximum: Int, maximumPerHost: Int, maximumWaiting: Int = 10_000) {
        self.maximum = maximum
        let limits = FairQueueLimits(weight: maximumWaiting, slots: maximum, slotsPerLane: maximumPerHost)
        state = Mutex(State(queue: Queue(limits: limits)))
    }

    convenience init(_ policy: ConnectionPolicy) {
        self.init(
            maximum: policy.maximumOpenConnections,
            maximumPerHost: policy.maximumOpenConnectionsPerHost,
            maximumWaiting: policy.maximumWaiting
        )
    }

    /// How many slots are taken.
    var count: Int { state.withLock { $0.queue.slots } }
    var waiting: Int { state.withLock { $0.queue.count } }

    enum Claim {
        case granted(Slot)
        case awaited(EventLoopFuture<Slot>)
    }

    /// A slot for a connection, at once where there is one: most requests go over a connection that is open, and need no timer
    /// for that.
    /// - Returns: What is waited for fails as ``OutboundError/timedOut`` if there is none until the deadline since the host does not
    ///   answer what it was sent for this lane, or for all, and as ``OutboundError/busy`` if it is others who have them, be it at the same
    ///   host, or too many wait.
    func claim(
        for origin: Origin,
        of lane: Lane? = nil,
        on eventLoop: any EventLoop,
        until deadline: NIODeadline
    ) -> Claim {
        let promise = eventLoop.makePromise(of: Slot.self)
        let (number, grants) = state.withLock { state -> (UInt64, [Queue.Grant]?) in
            let ticket = Ticket(number: state.next(), lane: lane, promise: promise)
            return (ticket.number, state.admit(ticket, for: origin))
        }
        guard let grants else {
            promise.fail(OutboundError.busy)
            return .awaited(promise.futureResult)
        }
        handOut(grants.filter { $0.item.number != number })
        if var grant = grants.first(where: { $0.item.number == number }) {
            grant.item.promise = nil
            let slot = Slot(grant, of: self)
            promise.succeed(slot)
            return .granted(slot)
        }
        let timer = eventLoop.scheduleTask(deadline: deadline) { self.withdraw(number, of: lane, origin) }
        promise.futureResult.whenComplete { _ in timer.cancel() }
        makeRoom(for: origin.network)
        return .awaited(promise.futureResult)
    }

    private func withdraw(_ number: UInt64, of lane: Lane?, _ origin: Origin) {
        let (gone, isOwnFault) = state.withLock { state in
            let gone = state.queue.remove(of: origin.network, in: origin) { $0.number == number }
            return (gone, state.hasSlots(lane, at: origin))
        }
        for ticket in gone { ticket.promise?.fail(isOwnFault ? OutboundError.timedOut : .busy) }
    }

    private func finished(_ grant: Queue.Grant) {
        handOut(state.withLock { $0.handOn(grant) })
    }

    private func handOut(_ grants: [Queue.Grant]) {
        for var grant in grants {
            let promise = grant.item.promise
            grant.item.promise = nil
            promise?.succeed(Slot(grant, of: self))
        }
    }

    /// A connection keeps a slot for as long as it is open.
    func keep(_ slot: Slot, for channel: any NIOCore.Channel) {
        let id = ObjectIdentifier(channel)
        state.withLock { $0.open[id] = slot.grant }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.open[id] = nil
                state.idle[id] = nil
            }
            slot.giveBack()
        }
    }

    /// A connection that keeps a slot carries no request. That it does again need not be said: `retire` finds out whether it
    /// does, and otherwise ends it.
    ///
    /// Called without locks that this one takes.
    func isIdle(_ channel: any NIOCore.Channel, retire: @escaping @Sendable () -> Bool) {
        let id = ObjectIdentifier(channel)
        let grant = state.withLock { state -> Queue.Grant? in
            // It may have closed meanwhile.
            guard let grant = state.open[id] else { return nil }
            state.idle[id] = Idle(since: state.next(), grant: grant, retire: retire)
            return state.queue.count > 0 ? grant : nil
        }
        if let grant { makeRoom(for: grant.tenant) }
    }

    /// Ends as few as possible of the connections without a request, if somebody who waits can go then: those of one network
    /// first, which may have its share already, and of them those that were used longest ago.
    private func makeRoom(for network: NetworkID?) {
        while true {
            let spare = state.withLock { $0.takeSpare(first: network) }
            // One that carries a request again stays.
            if spare.map({ $0() }).allSatisfy(\.self) { return }
        }
    }
}

extension OpenConnections.State {
    /// Takes connections off the list that are to end.
    fileprivate mutating func takeSpare(first network: NetworkID?) -> [@Sendable () -> Bool] {
        guard !idle.isEmpty, queue.count > 0 else { return [] }
        let now = ContinuousClock.now
        var rest = queue
        var spare: [(id: ObjectIdentifier, idle: OpenConnections.Idle)] = []
        let order = idle.sorted { left, right in
            let isOwn = left.value.grant.tenant == network
            guard isOwn == (right.value.grant.tenant == network) else { return isOwn }
            return left.value.since < right.value.since
        }
        for (id, idle) in order {
            spare.append((id, idle))
            rest.finished(idle.grant, at: now)
            guard !rest.next(upTo: 1, at: now).isEmpty else { continue }
            for (id, _) in spare { self.idle[id] = nil }
            return spare.map(\.idle.retire)
        }
        return []
    }
}
