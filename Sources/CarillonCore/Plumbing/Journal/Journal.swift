package import Logging
import DequeModule
import struct Foundation.UUID
import ServiceLifecycle
import Synchronization

/// Remembers what was answered lately, for the admins of the networks whose posts and requests they were.
///
/// Written behind the answers: what came of a second is gathered in memory and written at once, and is read together with what
/// other replicas have written. A database that is away costs entries and never a request. In each second a network has a share
/// of what is written, and of that no journal pushes out the others.
package final class Journal: Service {
    /// How many entries are kept of each journal.
    package static let depth = 100
    /// How many are shown of most journals.
    package static let page = 50
    /// How many entries of a network wait to be written at the most.
    static let mostOfNetwork = 2 * depth
    /// How many of all networks.
    static let capacity = 5_000

    private static let interval = Duration.seconds(1)

    /// What waits of one network, by the names of the journals.
    private struct Share {
        var entries: [String: Deque<JournalEntry>] = [:]
        var count = 0

        /// Makes room for another one in the journal that has most; `false` when there is none.
        mutating func removeFirstOfFullest() -> Bool {
            guard let fullest = entries.max(by: { $0.value.count < $1.value.count })?.key else { return false }
            removeFirst(of: fullest)
            return true
        }

        mutating func removeFirst(of name: String) {
            entries[name]?.removeFirst()
            if entries[name]?.isEmpty == true { entries[name] = nil }
            count -= 1
        }
    }

    private struct State {
        var shares: [NetworkID: Share] = [:]
        var count = 0

        /// Makes room for another one of a network where all have as many as may wait: in the network that has most, be it this one.
        mutating func makeRoom(for share: inout Share) -> Bool {
            let largest = shares.lazy.map { (network: $0.key, count: $0.value.count) }.max { $0.count < $1.count }
            guard let largest, largest.count > share.count + 1 else { return share.removeFirstOfFullest() }
            return shares[largest.network]?.removeFirstOfFullest() ?? false
        }

        mutating func forget(_ written: Set<UUID>, in key: JournalKey) {
            guard var share = shares.removeValue(forKey: key.networkID) else { return }
            let before = share.count
            while let first = share.entries[key.name]?.first, written.contains(first.id) {
                share.removeFirst(of: key.name)
            }
            count -= before - share.count
            if share.count > 0 { shares[key.networkID] = share }
        }
    }

    private let store: any JournalStore
    private let ids: UUIDv7Generator
    private let logger: Logger
    private let state = Mutex(State())
    private let wakeups = Wakeups()

    package init(store: any JournalStore, clock: WallClock = .system, logger: Logger) {
        self.store = store
        ids = UUIDv7Generator(clock: clock)
        self.logger = logger
    }

    /// Writes until graceful shutdown, and then what is left.
    package func run() async throws {
        await wakeups.repeating(every: Self.interval, jitter: 0.2) {
            await self.write()
            return self.state.withLock { $0.count > 0 }
        }
        await write()
    }

    /// Writes something down; returns at once.
    ///
    /// - Parameters:
    ///   - note: What.
    ///   - name: The journal.
    ///   - network: Whose it is.
    ///   - limit: How many of the journal may wait to be written: as many as are shown of it.
    package func record(_ note: JournalNote, of name: String, in network: NetworkID, limit: Int = page) {
        let isFirst = state.withLock { state in
            let wasEmpty = state.count == 0
            // Taken out while it is changed, so that it is not copied.
            var share = state.shares.removeValue(forKey: network) ?? Share()
            defer { if share.count > 0 { state.shares[network] = share } }
            if share.entries[name, default: []].count >= limit {
                share.removeFirst(of: name)
            } else if share.count >= Self.mostOfNetwork {
                guard share.removeFirstOfFullest() else { return false }
            } else if state.count >= Self.capacity {
                guard state.makeRoom(for: &share) else { return false }
            } else {
                state.count += 1
            }
            share.entries[name, default: []].append(JournalEntry(id: ids.next(), note: note))
            share.count += 1
            return wasEmpty
        }
        if isFirst { wakeups.call() }
    }

    /// What was written down by any replica, the newest first.
    package func entries(of name: String, in network: NetworkID, limit: Int = page) async throws -> [JournalEntry] {
        // What is written meanwhile is in both.
        let waiting = state.withLock { $0.shares[network]?.entries[name] } ?? []
        let stored = try await store.journal(of: JournalKey(name, in: network), limit: limit)
        let written = Set(stored.map(\.id))
        let all = stored + waiting.filter { !written.contains($0.id) }
        return Array(all.sorted { EventID($0.id) > EventID($1.id) }.prefix(limit))
    }

    /// Writes what waits; what cannot be written now goes on waiting, until there is no room for it any more.
    func write() async {
        let waiting = state.withLock { state in
            var waiting: [JournalKey: [JournalEntry]] = [:]
            for (network, share) in state.shares {
                for (name, entries) in share.entries { waiting[JournalKey(name, in: network)] = Array(entries) }
            }
            return waiting
        }
        guard !waiting.isEmpty else { return }
        do {
            let written = try await store.writeJournal(waiting)
            state.withLock { state in
                for key in written { state.forget(Set(waiting[key, default: []].map(\.id)), in: key) }
            }
        } catch {
            logger.debug("Could not write what was answered lately", metadata: ["error": "\(error)"])
        }
    }
}
