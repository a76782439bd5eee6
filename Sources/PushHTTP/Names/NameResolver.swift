package import CarillonCore
import NIOCore

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
        package var time = Duration.seconds(4)
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

    private struct Key: Hashable {
        var network: NetworkID?
        var name: String
    }

    private static let mostFailures = 4_096

    private let lookup: Lookup
    private let time: Duration
    private let slots: FairSemaphore<NetworkID?, String>
    /// What is under way or waits; nothing is remembered of it.
    private let pending = Remembered<Key, [IPAddress]>(capacity: 1) { _, readAt in readAt }
    private let failures: Remembered<String, OutboundError>

    /// A resolver that finds names as this machine is set up to.
    package convenience init(limits: Limits = Limits()) {
        let names = DNSResolver.system
        self.init(limits: limits) { try await names.addresses(of: $0) }
    }

    package init(limits: Limits = Limits(), lookup: @escaping Lookup) {
        self.lookup = lookup
        time = limits.time
        slots = FairSemaphore(
            limits: FairQueueLimits(weight: limits.waiting, slots: limits.slots),
            patience: limits.time
        )
        failures = Remembered(capacity: Self.mostFailures) { _, failedAt in failedAt + limits.failureMemory }
    }

    var running: Int { slots.taken }
    var waiting: Int { slots.waiting }

    /// All addresses of a name in small letters, for a network or Carillon itself.
    /// - Returns: The addresses; or ``OutboundError``, of which ``OutboundError/busy`` says nothing about the name.
    func addresses(
        of name: String,
        for network: NetworkID?,
        on eventLoop: any EventLoop
    ) -> EventLoopFuture<[IPAddress]> {
        if let failure = failures.remembered(name) { return eventLoop.makeFailedFuture(failure) }
        let key = Key(network: network, name: name)
        let reading = pending.reading(of: key) { try await self.find(key) }
        return eventLoop.makeFutureWithTask { try await reading.sharedResult.get() }
    }

    private func find(_ key: Key) async throws -> [IPAddress] {
        guard let slot = await slots.permit(of: key.network, in: key.name) else { throw OutboundError.busy }
        defer { slot.giveBack() }
        do {
            return try await lookedUp(key.name)
        } catch {
            let failure = error as? OutboundError ?? .lookupFailed
            if failure != .busy { failures.keep(failure, as: key.name, readAt: .now) }
            throw failure
        }
    }

    /// What a look-up finds in its time; nobody waits for one that goes on.
    private func lookedUp(_ name: String) async throws -> [IPAddress] {
        let task = Task { [lookup] in try await lookup(name) }
        defer { task.cancel() }
        return try await withThrowingTaskGroup { group in
            group.addTask { try await task.sharedResult.get() }
            group.addTask { [time] in
                try await Task.sleep(for: time)
                throw OutboundError.lookupFailed
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }
}
