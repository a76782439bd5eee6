import Synchronization

/// Places that tasks wait for: a ``FairQueue`` says whose turn it is, and nobody waits for longer than a while.
package final class FairPlaces<Tenant: Hashable & Sendable, Lane: Hashable & Sendable>: Sendable {
    private typealias Queue = FairQueue<Tenant, Lane, Ticket>

    fileprivate struct Ticket: Sendable {
        let number: UInt64
        /// Taken out when it is kept: a place that held the way to itself would never be given up.
        var way: AsyncStream<Place>.Continuation?
    }

    /// Leave to go on, until it is given back.
    package final class Place: Sendable {
        private let turn: FairQueue<Tenant, Lane, Ticket>.Turn
        private let owner: FairPlaces
        private let isTaken = Atomic(true)

        fileprivate init(_ turn: FairQueue<Tenant, Lane, Ticket>.Turn, of owner: FairPlaces) {
            self.turn = turn
            self.owner = owner
        }

        deinit { giveBack() }

        /// Lets the next one in line have it.
        package func giveBack() {
            guard isTaken.exchange(false, ordering: .acquiringAndReleasing) else { return }
            owner.finished(turn)
        }
    }

    private struct State {
        var queue: Queue
        var lastNumber: UInt64 = 0
    }

    private let patience: Duration
    private let state: Mutex<State>

    /// - Parameters:
    ///   - limits: How many places there are, and how many may wait for one: each weighs 1.
    ///   - patience: For how long one waits.
    package init(limits: FairQueueLimits, patience: Duration) {
        self.patience = patience
        state = Mutex(State(queue: Queue(limits: limits)))
    }

    package var taken: Int { state.withLock { $0.queue.places } }
    package var waiting: Int { state.withLock { $0.queue.count } }

    /// Waits for a place, which takes nothing of the time that the task's ``UnitOfWork`` has.
    ///
    /// - Parameters:
    ///   - tenant: Whose share it is counted to.
    ///   - lane: Which part of it.
    ///   - isFirst: Whether this lane goes before those of the tenant's that do not.
    /// - Returns: The place; `nil` when too many wait already, when none became free in time, and when the task is cancelled.
    package func place(of tenant: Tenant, in lane: Lane, isFirst: Bool = false) async -> Place? {
        let (places, way) = AsyncStream.makeStream(of: Place.self)
        let (number, turns) = state.withLock { state -> (UInt64, [Queue.Turn]?) in
            state.lastNumber += 1
            let ticket = Ticket(number: state.lastNumber, way: way)
            return (ticket.number, state.queue.admit(ticket, of: tenant, in: lane, isFirst: isFirst, at: .now))
        }
        guard let turns else { return nil }
        grant(turns)
        var line = places.makeAsyncIterator()
        if turns.contains(where: { $0.item.number == number }) { return await line.next() }
        let timer = Task { [patience] in
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            withdraw(number, of: tenant, in: lane)
        }
        defer { timer.cancel() }
        let place = await line.next()
        if place == nil { withdraw(number, of: tenant, in: lane) }
        UnitOfWork.current?.restart()
        return place
    }

    private func withdraw(_ number: UInt64, of tenant: Tenant, in lane: Lane) {
        let gone = state.withLock { $0.queue.remove(of: tenant, in: lane) { $0.number == number } }
        for ticket in gone { ticket.way?.finish() }
    }

    private func finished(_ turn: Queue.Turn) {
        grant(state.withLock { $0.queue.handOn(turn, at: .now) })
    }

    private func grant(_ turns: [Queue.Turn]) {
        for var turn in turns {
            let way = turn.item.way
            turn.item.way = nil
            // One that nobody waits for any more gives itself back.
            way?.yield(Place(turn, of: self))
        }
    }
}
