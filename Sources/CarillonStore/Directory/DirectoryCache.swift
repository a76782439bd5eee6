import CarillonCore
import Synchronization

/// What this replica has read of networks' directories, for as long as nobody changes them.
///
/// Nothing here is believed by itself: who uses rows has read, in the same transaction, that the network's version is still the one at which
/// they were read (``DirectoryVersions``). Of a network whose version moves from one batch to the next nothing is offered until it stands
/// still, since a batch whose rows turn out to be stale takes a round trip more. Networks share the room: when it is full, the one with the
/// most rows is forgotten. See `docs/decisions/0044`.
final class DirectoryCache: Sendable {
    /// How long a network's rows are used at the most: what a release writes that counts no versions is overlooked that long.
    private static let lifetime = Duration.seconds(10)
    private static let mostRows = 16_384
    private static let mostRowsOfOne = 4_096

    private struct Page {
        var version: Int64
        /// Whether two batches have seen this version.
        var isSteady = false
        var rows = DirectoryRows()
        let end = ContinuousClock.now + lifetime

        var count: Int { rows.count + 1 }
    }

    private struct Pages {
        private(set) var pages: [NetworkID: Page] = [:]
        private(set) var count = 0

        subscript(network: NetworkID) -> Page? {
            get { pages[network] }
            set {
                count += (newValue?.count ?? 0) - (pages[network]?.count ?? 0)
                pages[network] = newValue
            }
        }

        /// Makes room for a quarter more than there is, beginning with what nobody uses any more, and then with those that have most.
        mutating func makeRoom() {
            guard count > mostRows else { return }
            let now = ContinuousClock.now
            for (network, page) in pages where page.end <= now { self[network] = nil }
            let byNeed = pages.sorted { ($1.value.count, $0.value.end) < ($0.value.count, $1.value.end) }
            for (network, _) in byNeed {
                guard count > mostRows / 4 * 3 else { return }
                self[network] = nil
            }
        }
    }

    /// What a batch has read and written, once it is committed.
    struct Lesson: Sendable {
        /// The versions before anything was read of networks that took something of the batch.
        var versions: [NetworkID: Int64] = [:]
        /// The versions that the batch has counted up to.
        var counted: [NetworkID: Int64] = [:]
        /// Where it has ended more than what it has read.
        var swept: Set<NetworkID> = []
        /// Rows as they are now.
        var rows = DirectoryRows()
        /// What else the batch has written.
        var written: DirectoryFacts?
    }

    private let pages = Mutex(Pages())

    /// The rows that facts are about, as far as they are known, and the versions at which they were read.
    func rows(
        about facts: DirectoryFacts,
        of networks: Set<NetworkID>
    ) -> (rows: DirectoryRows, versions: [NetworkID: Int64]) {
        pages.withLock { pages in
            var found = DirectoryRows()
            var versions: [NetworkID: Int64] = [:]
            let now = ContinuousClock.now
            for network in networks {
                guard let page = pages[network] else { continue }
                if page.end <= now {
                    pages[network] = nil
                } else if page.isSteady {
                    versions[network] = page.version
                }
            }
            guard !versions.isEmpty else { return (found, versions) }
            func row<Key, Row>(_ key: Key, in network: NetworkID, _ rows: KeyPath<DirectoryRows, [Key: Row]>) -> Row? {
                versions[network] == nil ? nil : pages[network]?.rows[keyPath: rows][key]
            }
            for key in facts.users.keys { found.users[key] = row(key, in: key.network, \.users) }
            for key in facts.channels.keys { found.channels[key] = row(key, in: key.network, \.channels) }
            for key in facts.members.keys { found.members[key] = row(key, in: key.network, \.members) }
            return (found, versions)
        }
    }

    /// Takes in what a batch has read and written.
    func learn(_ lesson: Lesson) {
        pages.withLock { pages in
            for (network, version) in lesson.versions {
                pages[network] = Self.page(after: pages[network], network, version, lesson)
            }
            pages.makeRoom()
        }
    }

    private static func page(after former: Page?, _ network: NetworkID, _ version: Int64, _ lesson: Lesson) -> Page? {
        if let former, former.version > version { return former }
        let counted = lesson.counted[network] ?? version
        let isAlone = counted == version || counted == version + 1
        guard isAlone, !lesson.swept.contains(network) else { return Page(version: counted) }
        var page = Page(version: counted)
        if let former, former.version == version {
            page = former
            (page.version, page.isSteady) = (counted, true)
            if let written = lesson.written { page.rows.remove(written, of: network) }
        }
        page.rows.take(lesson.rows, of: network)
        if page.count > mostRowsOfOne { page.rows = DirectoryRows() }
        return page
    }
}
