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

    private struct Entry {
        var credential: Credential?
        var readAt: ContinuousClock.Instant
        var generation: Int
    }

    private struct Listing {
        var apps: Set<String>
        var readAt: ContinuousClock.Instant
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var listings: [NetworkID: Listing] = [:]
        /// How often something was forgotten.
        var generation = 0
        /// When that was last of a network: what was read before is not kept, and not sent with any more.
        var forgotten: [NetworkID: Int] = [:]
        /// The same of all networks that are not in there.
        var forgottenOfOthers = 0

        func isCurrent(_ network: NetworkID, since generation: Int) -> Bool {
            (forgotten[network] ?? forgottenOfOthers) <= generation
        }
    }

    private let lifetime: Duration
    private static var capacity: Int { 10_000 }

    private let read: Read
    private let listings: GatheredReading<NetworkID, Set<String>>?
    /// Few are read at a time, by turns of networks: each reading takes one of the connections to the database.
    private let places = FairPlaces<NetworkID, String>(
        limits: FairQueueLimits(weight: 20_000, places: 4),
        patience: .seconds(10)
    )
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

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
        listings = list.map { list in
            GatheredReading { networks in
                var apps: [NetworkID: Set<String>] = [:]
                for network in networks { apps[network] = try await list(network) }
                return apps
            }
        }
        self.lifetime = lifetime
        self.now = now
        self.read = read
    }

    /// A network's credential for an app; `nil` when there is none.
    ///
    /// - Throws: What reading throws.
    package func credential(
        of network: NetworkID,
        for appID: String = ""
    ) async throws -> CurrentCredential<Credential>? {
        let key = Key(network: network, appID: appID)
        if let known = remembered(key) { return current(known, of: network) }
        guard try await exists(appID, in: network) else { return nil }
        var place: FairPlaces<NetworkID, String>.Place?
        // What is not remembered is asked for as often as something is sent, and waits for nobody.
        if lifetime > .zero {
            place = await places.place(of: network, in: appID)
            guard place != nil else { throw TooManyReadings() }
        }
        defer { place?.giveBack() }
        // Somebody else may have read it meanwhile.
        if let known = remembered(key) { return current(known, of: network) }
        let startedAt = now()
        let generation = state.withLock(\.generation)
        let entry = Entry(
            credential: try await read(network, appID),
            readAt: startedAt,
            generation: generation
        )
        state.withLock { state in
            guard lifetime > .zero, state.isCurrent(network, since: generation) else { return }
            if state.entries.count >= Self.capacity { state.entries = [:] }
            state.entries[key] = entry
        }
        return current(entry, of: network)
    }

    private func remembered(_ key: Key) -> Entry? {
        let now = self.now()
        return state.withLock { $0.entries[key] }.flatMap { now - $0.readAt < lifetime ? $0 : nil }
    }

    /// Whether there is a credential for an app, as far as that can be told without reading it.
    private func exists(_ appID: String, in network: NetworkID) async throws -> Bool {
        guard let listings else { return true }
        let startedAt = now()
        let (known, generation) = state.withLock { ($0.listings[network], $0.generation) }
        if let known, startedAt - known.readAt < lifetime { return known.apps.contains(appID) }
        let apps = try await listings.value(of: network) ?? []
        state.withLock { state in
            guard lifetime > .zero, state.isCurrent(network, since: generation) else { return }
            if state.listings.count >= Self.capacity { state.listings = [:] }
            state.listings[network] = Listing(apps: apps, readAt: startedAt)
        }
        return apps.contains(appID)
    }

    private func current(_ entry: Entry, of network: NetworkID) -> CurrentCredential<Credential>? {
        entry.credential.map { credential in
            CurrentCredential(value: credential) {
                self.state.withLock { $0.isCurrent(network, since: entry.generation) }
            }
        }
    }

    /// Forgets the credentials of a network, because one of them has just been changed; without one those of all.
    package func forget(in network: NetworkID?) {
        state.withLock { state in
            state.generation += 1
            if state.forgotten.count >= Self.capacity || network == nil {
                state.forgotten = [:]
                state.forgottenOfOthers = state.generation
            }
            if let network { state.forgotten[network] = state.generation }
            state.entries = network.map { network in state.entries.filter { $0.key.network != network } } ?? [:]
            if let network { state.listings[network] = nil } else { state.listings = [:] }
        }
    }
}
