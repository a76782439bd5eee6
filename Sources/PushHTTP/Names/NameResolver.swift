package import CarillonCore
package import NIOCore
import Synchronization

/// Looks up host names: a few at a time, with a share for each network, and each for a few seconds at the most.
///
/// Whoever owns a name decides how long its name server takes. So turns go round the networks, one that waits for slow names
/// leaves slots to the others, and what failed is not asked for again for a while. Requests of a network for the same name at
/// the same time share one look-up. Addresses are not remembered: connections are, and those go to addresses that were
/// checked.
package final class NameResolver: Sendable {
    /// Finds all addresses of a name; throws ``OutboundError``. When its task is cancelled nobody waits for it any more.
    package typealias Lookup = @Sendable (String) async throws -> [IPAddress]

    /// How much there is of what look-ups share.
    package struct Limits: Sendable {
        /// How many look-ups are under way at a time; each takes a descriptor.
        package var slots = 256
        /// How many wait for a slot; more fail at once.
        package var waiting = 4_096
        /// How long a look-up may take, and how long one may wait for its slot.
        package var time = TimeAmount.seconds(4)
        /// How long it is remembered that a name could not be looked up.
        package var failureMemory = Duration.seconds(30)

        package init() {}

        package static func chosenByUsers(slots: Int) -> Limits {
            var limits = Limits()
            limits.slots = slots
            return limits
        }

        /// For the few names that the operator chooses, which are looked up one at a time: a failure is hardly remembered, since
        /// all networks would suffer from it.
        package static var trusted: Limits {
            var limits = Limits()
            limits.slots = 16
            limits.failureMemory = .seconds(1)
            return limits
        }
    }

    private struct Item: Sendable {
        var deadline: NIODeadline
        var promise: EventLoopPromise<[IPAddress]>
    }

    private typealias Queue = FairQueue<NetworkID?, String, Item>

    private struct Key: Hashable {
        var network: NetworkID?
        var name: String
    }

    private struct State {
        var queue: Queue
        /// What is under way or waits.
        var pending: [Key: EventLoopFuture<[IPAddress]>] = [:]
        var failures: RecentFailures
    }

    private let lookup: Lookup
    private let limits: Limits
    private let state: Mutex<State>

    /// A resolver that finds names as this machine is set up to.
    package convenience init(limits: Limits = Limits()) {
        let names = DNSResolver.system
        self.init(limits: limits) { try await names.addresses(of: $0) }
    }

    /// A resolver.
    package init(limits: Limits = Limits(), lookup: @escaping Lookup) {
        self.lookup = lookup
        self.limits = limits
        state = Mutex(
            State(
                queue: Queue(limits: FairQueueLimits(weight: limits.waiting, slots: limits.slots)),
                failures: RecentFailures(lifetime: limits.failureMemory)
            )
        )
    }

    var running: Int { state.withLock { $0.queue.slots } }

    /// All addresses of a name.
    /// - Parameters:
    ///   - name: The name in small letters.
    ///   - network: Who needs it; `nil` for Carillon itself.
    ///   - eventLoop: Where to answer.
    /// - Returns: The addresses; or ``OutboundError``, of which ``OutboundError/busy`` says nothing about the name.
    func addresses(
        of name: String,
        for network: NetworkID?,
        on eventLoop: any EventLoop
    ) -> EventLoopFuture<[IPAddress]> {
        let (answer, grants) = state.withLock { state -> (EventLoopFuture<[IPAddress]>, [Queue.Grant]) in
            let now = ContinuousClock.now
            let key = Key(network: network, name: name)
            if let failure = state.failures.failure(of: name, at: now) {
                return (eventLoop.makeFailedFuture(failure), [])
            }
            if let pending = state.pending[key] { return (pending.hop(to: eventLoop), []) }
            let item = Item(deadline: .now() + limits.time, promise: eventLoop.makePromise())
            guard let grants = state.queue.admit(item, of: network, in: name, at: now) else {
                item.promise.fail(OutboundError.busy)
                return (item.promise.futureResult, [])
            }
            state.pending[key] = item.promise.futureResult
            return (item.promise.futureResult, grants)
        }
        for grant in grants { begin(grant) }
        return answer
    }

    private func begin(_ grant: Queue.Grant) {
        let promise = grant.item.promise
        let eventLoop = promise.futureResult.eventLoop
        let result = eventLoop.makePromise(of: [IPAddress].self)
        result.futureResult.whenComplete { self.end(grant, $0) }
        // Who has waited so long for its turn is not waited for any more.
        guard grant.item.deadline > .now() else { return result.fail(OutboundError.busy) }
        let task = Task { [lookup] in
            do {
                result.succeed(try await lookup(grant.lane))
            } catch {
                result.fail(error as? OutboundError ?? .lookupFailed)
            }
        }
        // Completing it again does nothing: the first of the two decides.
        let timer = eventLoop.scheduleTask(in: limits.time) {
            result.fail(OutboundError.lookupFailed)
            task.cancel()
        }
        result.futureResult.whenComplete { _ in timer.cancel() }
    }

    private func end(_ grant: Queue.Grant, _ result: Result<[IPAddress], any Error>) {
        let next = state.withLock { state in
            let now = ContinuousClock.now
            state.pending[Key(network: grant.tenant, name: grant.lane)] = nil
            if case .failure(let error as OutboundError) = result, error != .busy {
                state.failures.note(error, of: grant.lane, at: now)
            }
            return state.queue.handOn(grant, at: now)
        }
        grant.item.promise.completeWith(result)
        for grant in next { begin(grant) }
    }
}
