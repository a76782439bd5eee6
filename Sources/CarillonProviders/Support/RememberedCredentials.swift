package import CarillonCore
import Synchronization

/// Remembers for some seconds what credentials there are, so that not every group reads, opens and parses one.
///
/// What is stored or removed is forgotten at once with ``forget(in:)``, wherever that was, also by those who have it in hand;
/// should nobody have told this replica, it finds out after ``lifetime``.
package final class RememberedCredentials<Credential: Sendable>: Sendable {
    /// Reads a credential of a network and an app; `nil` when there is none.
    package typealias Read = @Sendable (NetworkID, String) async throws -> Credential?
    /// Reads for which apps a network has credentials.
    package typealias List = @Sendable (NetworkID) async throws -> Set<String>

    /// So many wait in line for one that is being read that no more do.
    private struct TooManyReadings: Error {}

    private struct Key: Hashable {
        var network: NetworkID
        var appID: String
    }

    private struct Found {
        var credential: Credential?
        /// How often something had been forgotten when it was read.
        var generation: Int
    }

    private struct Forgotten {
        /// How often something was forgotten.
        var generation = 0
        /// When that was last of a network: what was read before is not sent with any more.
        var networks: [NetworkID: Int] = [:]
        /// The same of all networks that are not in there.
        var others = 0
    }

    private let lifetime: Duration
    private static var capacity: Int { 10_000 }

    private let read: Read
    private let list: List?
    /// Few are read at a time, by turns of networks: each reading takes one of the connections to the database.
    private let permits = FairSemaphore<NetworkID, String>(
        limits: FairQueueLimits(weight: 20_000, slots: 4),
        patience: .seconds(10)
    )
    private let known: Remembered<Key, Found>
    private let listings: Remembered<NetworkID, Set<String>>
    private let forgotten = Mutex(Forgotten())

    /// A memory of what `read` answers.
    /// - Parameters:
    ///   - lifetime: How long a credential is remembered, and how long that there is none; zero to read it each time.
    ///   - now: The time.
    ///   - list: Reads what there is, so that apps without a credential, of which a network can have thousands, cost no reading each.
    ///   - read: Reads a credential.
    package init(
        lifetime: Duration = .seconds(10),
        now: @Sendable @escaping () -> ContinuousClock.Instant = { .now },
        list: List? = nil,
        read: @escaping Read
    ) {
        self.lifetime = lifetime
        self.read = read
        self.list = list
        known = Remembered(capacity: Self.capacity, now: now, network: \.network) { _, readAt in readAt + lifetime }
        listings = Remembered(capacity: Self.capacity, now: now) { _, readAt in readAt + lifetime }
    }

    /// A network's credential for an app; `nil` when there is none.
    package func credential(
        of network: NetworkID,
        for appID: String = ""
    ) async throws -> CurrentCredential<Credential>? {
        let key = Key(network: network, appID: appID)
        if let found = known.remembered(key) { return current(found, of: network) }
        if let list {
            let apps = try await listings.value(of: network) {
                try await self.withPermit(of: network, for: appID) { try await list(network) }
            }
            guard apps.contains(appID) else { return nil }
        }
        // What is not remembered is asked for as often as something is sent, and waits for nobody.
        guard lifetime > .zero else { return current(try await find(key), of: network) }
        let found = try await known.value(of: key) {
            try await self.withPermit(of: network, for: appID) { try await self.find(key) }
        }
        return current(found, of: network)
    }

    private func withPermit<Value>(
        of network: NetworkID,
        for appID: String,
        _ read: () async throws -> Value
    ) async throws -> Value {
        guard let permit = await permits.permit(of: network, in: appID) else { throw TooManyReadings() }
        defer { permit.giveBack() }
        return try await read()
    }

    private func find(_ key: Key) async throws -> Found {
        let generation = forgotten.withLock(\.generation)
        return Found(credential: try await read(key.network, key.appID), generation: generation)
    }

    private func current(_ found: Found, of network: NetworkID) -> CurrentCredential<Credential>? {
        found.credential.map { credential in
            CurrentCredential(value: credential) {
                self.forgotten.withLock { ($0.networks[network] ?? $0.others) <= found.generation }
            }
        }
    }

    /// Forgets the credentials of a network, because one of them has just been changed; without one those of all.
    package func forget(in network: NetworkID?) {
        forgotten.withLock { forgotten in
            forgotten.generation += 1
            if forgotten.networks.count >= Self.capacity || network == nil {
                (forgotten.networks, forgotten.others) = ([:], forgotten.generation)
            }
            if let network { forgotten.networks[network] = forgotten.generation }
        }
        known.forget(of: network)
        listings.forget(network)
    }
}
