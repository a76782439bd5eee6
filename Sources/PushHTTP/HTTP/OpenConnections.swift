import CarillonCore
import NIOCore
import Synchronization

/// Places for the connections that clients use, in whatever version of HTTP: never more than so many, with a share for each
/// network, and within it for each host.
///
/// Users choose hosts, and each connection takes a file descriptor, of which the process has few. A place is taken by an
/// HTTP/1.1 connection for as long as it carries a request, and by an HTTP/2 connection, which carries many, for as long as it
/// is open. Whoever needs a place waits for its turn: turns go round the networks, and then round a network's hosts. So hosts
/// that take connections and never answer hold up nobody but themselves.
package final class OpenConnections: Sendable {
    typealias Queue = FairQueue<NetworkID?, Origin, Ticket>

    /// Somebody who waits for a place.
    struct Ticket: Sendable {
        let number: UInt64
        /// Taken out when it is kept: a place that held the promise of itself would never be given up.
        var promise: EventLoopPromise<Place>?
    }

    /// Leave to use a connection, until it is given back.
    final class Place: Sendable {
        fileprivate let turn: Queue.Turn
        private let owner: OpenConnections
        private let isTaken = Atomic(true)

        fileprivate init(_ turn: Queue.Turn, of owner: OpenConnections) {
            self.turn = turn
            self.owner = owner
        }

        deinit { giveBack() }

        /// Lets the next one in line have it.
        func giveBack() {
            guard isTaken.exchange(false, ordering: .acquiringAndReleasing) else { return }
            owner.finished(turn)
        }
    }

    /// A connection that has a place and carries no request.
    fileprivate struct Idle {
        let since: UInt64
        let turn: Queue.Turn
        let retire: @Sendable () -> Bool
    }

    fileprivate struct State {
        var queue: Queue
        /// The places of the connections that keep one until they close.
        var open: [ObjectIdentifier: Queue.Turn] = [:]
        var idle: [ObjectIdentifier: Idle] = [:]
        var counter: UInt64 = 0

        mutating func next() -> UInt64 {
            counter += 1
            return counter
        }
    }

    let maximum: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - maximum: How many there are at a time, those included that are being opened.
    ///   - maximumPerHost: How many of them lead to one host of a network.
    ///   - maximumWaiting: How many requests may wait for one.
    package init(maximum: Int, maximumPerHost: Int, maximumWaiting: Int = 10_000) {
        self.maximum = maximum
        let limits = FairQueueLimits(weight: maximumWaiting, places: maximum, placesPerLane: maximumPerHost)
        state = Mutex(State(queue: Queue(limits: limits)))
    }

    convenience init(_ policy: ConnectionPolicy) {
        self.init(
            maximum: policy.maximumOpenConnections,
            maximumPerHost: policy.maximumOpenConnectionsPerHost,
            maximumWaiting: policy.maximumWaiting
        )
    }

    /// How many places are taken.
    var count: Int { state.withLock { $0.queue.places } }
    var waiting: Int { state.withLock { $0.queue.count } }

    enum Claim {
        case granted(Place)
        case awaited(EventLoopFuture<Place>)
    }

    /// A place for a connection, at once where there is one: most requests go over a connection that is open, and need no timer
    /// for that.
    /// - Returns: What is waited for fails as ``OutboundError/timedOut`` if there is none until the deadline since the host's own
    ///   are all in use, and as ``OutboundError/busy`` if it is others who have them, or too many wait.
    func claim(for origin: Origin, on eventLoop: any EventLoop, until deadline: NIODeadline) -> Claim {
        let promise = eventLoop.makePromise(of: Place.self)
        let (number, turns) = state.withLock { state -> (UInt64, [Queue.Turn]?) in
            let ticket = Ticket(number: state.next(), promise: promise)
            return (ticket.number, state.queue.admit(ticket, of: origin.network, in: origin, at: .now))
        }
        guard let turns else {
            promise.fail(OutboundError.busy)
            return .awaited(promise.futureResult)
        }
        grant(turns.filter { $0.item.number != number })
        if var turn = turns.first(where: { $0.item.number == number }) {
            turn.item.promise = nil
            let place = Place(turn, of: self)
            promise.succeed(place)
            return .granted(place)
        }
        let timer = eventLoop.scheduleTask(deadline: deadline) { self.withdraw(number, origin) }
        promise.futureResult.whenComplete { _ in timer.cancel() }
        makeRoom(for: origin.network)
        return .awaited(promise.futureResult)
    }

    private func withdraw(_ number: UInt64, _ origin: Origin) {
        let (gone, isOwnFault) = state.withLock { state in
            let gone = state.queue.remove(of: origin.network, in: origin) { $0.number == number }
            return (gone, state.queue.places(of: origin.network, in: origin) > 0)
        }
        for ticket in gone { ticket.promise?.fail(isOwnFault ? OutboundError.timedOut : .busy) }
    }

    private func finished(_ turn: Queue.Turn) {
        grant(state.withLock { $0.queue.handOn(turn, at: .now) })
    }

    private func grant(_ turns: [Queue.Turn]) {
        for var turn in turns {
            let promise = turn.item.promise
            turn.item.promise = nil
            promise?.succeed(Place(turn, of: self))
        }
    }

    /// A connection keeps a place for as long as it is open.
    func keep(_ place: Place, for channel: any NIOCore.Channel) {
        let id = ObjectIdentifier(channel)
        state.withLock { $0.open[id] = place.turn }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.open[id] = nil
                state.idle[id] = nil
            }
            place.giveBack()
        }
    }

    /// A connection that keeps a place carries no request. That it does again need not be said: `retire` finds out whether it
    /// does, and otherwise ends it.
    ///
    /// Called without locks that this one takes.
    func isIdle(_ channel: any NIOCore.Channel, retire: @escaping @Sendable () -> Bool) {
        let id = ObjectIdentifier(channel)
        let turn = state.withLock { state -> Queue.Turn? in
            // It may have closed meanwhile.
            guard let turn = state.open[id] else { return nil }
            state.idle[id] = Idle(since: state.next(), turn: turn, retire: retire)
            return state.queue.count > 0 ? turn : nil
        }
        if let turn { makeRoom(for: turn.tenant) }
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
            let isOwn = left.value.turn.tenant == network
            guard isOwn == (right.value.turn.tenant == network) else { return isOwn }
            return left.value.since < right.value.since
        }
        for (id, idle) in order {
            spare.append((id, idle))
            rest.finished(idle.turn, at: now)
            guard !rest.next(upTo: 1, at: now).isEmpty else { continue }
            for (id, _) in spare { self.idle[id] = nil }
            return spare.map(\.idle.retire)
        }
        return []
    }
}
