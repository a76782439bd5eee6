import Synchronization

/// A semaphore that is fair among tenants: a ``FairQueue`` says whose turn it is, and nobody waits for longer than a while.
package final class FairSemaphore<Tenant: Hashable & Sendable, Lane: Hashable & Sendable>: Sendable {
    private typealias Queue = FairQueue<Tenant, Lane, Ticket>

    fileprivate struct Ticket: Sendable {
        let number: UInt64
        /// Taken out when it is kept: a permit that held the way to itself would never be given up.
        var way: AsyncStream<Permit>.Continuation?
    }

    /// Leave to go on, until it is given back.
    package final class Permit: Sendable {
        private let grant: FairQueue<Tenant, Lane, Ticket>.Grant
        private let owner: FairSemaphore
        private let isTaken = Atomic(true)

        fileprivate init(_ grant: FairQueue<Tenant, Lane, Ticket>.Grant, of owner: FairSemaphore) {
            self.grant = grant
            self.owner = owner
        }

        deinit { giveBack() }

        /// Lets the next one in line have it.
        package func giveBack() {
            guard isTaken.exchange(false, ordering: .acquiringAndReleasing) else { return }
            owner.finished(grant)
        }
    }

    private struct State {
        var queue: Queue
        var lastNumber: UInt64 = 0
    }

    private let patience: Duration
    private let state: Mutex<State>

    /// - Parameters:
    ///   - limits: How many permits there are, and how much may wait for one.
    ///   - patience: For how long one waits.
    package init(limits: FairQueueLimits, patience: Duration) {
        self.patience = patience
        state = Mutex(State(queue: Queue(limits: limits)))
    }

    package var taken: Int { state.withLock { $0.queue.slots } }
    package var waiting: Int { state.withLock { $0.queue.count } }
    package var isClosed: Bool { state.withLock(\.queue.isShutDown) }

    /// Waits for a permit, which takes nothing of the time that the task's ``UnitOfWork`` has.
    ///
    /// - Parameters:
    ///   - tenant: Whose share it is counted to.
    ///   - lane: Which part of it.
    ///   - weight: Of what may wait.
    ///   - isFirst: Whether this lane goes before those of the tenant's that do not.
    ///   - patience: For how long one waits, if not for as long as all do.
    /// - Returns: The permit; `nil` when too many wait already, when none became free in time, when those of the lane are sent away, when
    ///   it is closed, and when the task is cancelled.
    package func permit(
        of tenant: Tenant,
        in lane: Lane,
        weight: Int = 1,
        isFirst: Bool = false,
        within patience: Duration? = nil
    ) async -> Permit? {
        let (permits, way) = AsyncStream.makeStream(of: Permit.self)
        let (number, grants) = state.withLock { state -> (UInt64, [Queue.Grant]?) in
            state.lastNumber += 1
            let ticket = Ticket(number: state.lastNumber, way: way)
            let grants = state.queue.admit(ticket, weight: weight, of: tenant, in: lane, isFirst: isFirst, at: .now)
            return (ticket.number, grants)
        }
        guard let grants else { return nil }
        handOut(grants)
        var line = permits.makeAsyncIterator()
        if grants.contains(where: { $0.item.number == number }) { return await line.next() }
        let timer = Task { [patience = patience ?? self.patience] in
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            withdraw(number, of: tenant, in: lane)
        }
        defer { timer.cancel() }
        let permit = await line.next()
        if permit == nil, Task.isCancelled { withdraw(number, of: tenant, in: lane) }
        UnitOfWork.current?.restart()
        return permit
    }

    /// Tells all who wait for permits of a lane that there are none.
    package func sendAway(of tenant: Tenant, in lane: Lane) {
        for ticket in state.withLock({ $0.queue.remove(of: tenant, in: lane) { _ in true } }) { ticket.way?.finish() }
    }

    private func withdraw(_ number: UInt64, of tenant: Tenant, in lane: Lane) {
        state.withLock { $0.queue.removeFirst(of: tenant, in: lane) { $0.number == number } }?.way?.finish()
    }

    /// Gives no permits any more, and tells all who wait.
    package func close() {
        for ticket in state.withLock({ $0.queue.shutDown() }) { ticket.way?.finish() }
    }

    private func finished(_ grant: Queue.Grant) {
        handOut(state.withLock { $0.queue.handOn(grant, at: .now) })
    }

    private func handOut(_ grants: [Queue.Grant]) {
        for var grant in grants {
            let way = grant.item.way
            grant.item.way = nil
            // One that nobody waits for any more gives itself back.
            way?.yield(Permit(grant, of: self))
        }
    }
}
