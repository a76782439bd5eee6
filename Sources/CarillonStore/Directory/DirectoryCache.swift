import CarillonCore
import Synchronization

/// What this replica has read of networks' directories, for as long as nobody changes them.
///
/// Nothing here is believed by itself: who uses rows has read, in the same transaction, that the network's version is still the one at which
/// they were read (``DirectoryVersions``). Of a network whose version moves from one batch to the next nothing is offered until it stands
/// still, since a batch whose rows turn out to be stale takes a round trip more. Networks share the room: when it is full, the one with the
/// most rows is forgotten; and long rows are not kept at all. See `docs/decisions/0044`.
final class DirectoryCache: Sendable {
    /// How long a network's rows are used at the most: what a release writes that counts no versions is overlooked that long.
    private static let lifetime = Duration.seconds(10)
    private static let mostRows = 16_384
    private static let mostRowsOfOne = 4_096

    private struct Kept {
        /// `nil` where there was but one batch lately: of most networks there is no more, and nothing is worth asking for.
        var version: Int64?
        /// Whether two batches have seen this version.
        var isSteady = false
        var rows = DirectoryRows()
        let end = ContinuousClock.now + lifetime

        var count: Int { rows.count + 1 }
    }

    private struct Pages {
        var pages: [NetworkID: Kept] = [:]
        /// How many rows they have, and pages.
        private var count = 0

        /// Changes the pages of some networks, in their place.
        mutating func change(_ networks: some Sequence<NetworkID>, _ body: (inout [NetworkID: Kept]) -> Void) {
            for network in networks { count -= pages[network]?.count ?? 0 }
            body(&pages)
            for network in networks { count += pages[network]?.count ?? 0 }
        }

        mutating func forget(_ network: NetworkID) { change([network]) { $0[network] = nil } }

        /// Makes room for a quarter more than there is, beginning with what is too old, and then with those that have most.
        mutating func makeRoom() {
            guard count > mostRows else { return }
            let now = ContinuousClock.now
            for (network, page) in pages where page.end <= now { forget(network) }
            let byNeed = pages.sorted { ($1.value.count, $0.value.end) < ($0.value.count, $1.value.end) }
            for (network, _) in byNeed {
                guard count > mostRows / 4 * 3 else { return }
                forget(network)
            }
        }
    }

    /// What is known of what a batch's facts are about.
    struct Page: Sendable {
        var rows = DirectoryRows()
        /// The networks of which rows are given, and the versions at which they were read.
        var versions: [NetworkID: Int64] = [:]
        /// The networks whose versions are worth asking for.
        var watched: Set<NetworkID> = []
    }

    /// What a batch has read and written, once it is committed.
    struct Lesson: Sendable {
        /// The networks that took something of the batch.
        var networks: Set<NetworkID> = []
        /// The versions of those that were watched, before anything was read.
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

    /// What is known of what facts are about.
    func rows(about facts: DirectoryFacts, of networks: Set<NetworkID>) -> Page {
        guard !facts.isEmpty else { return Page() }
        return pages.withLock { pages in
            var page = Page()
            let now = ContinuousClock.now
            for network in networks {
                guard let kept = pages.pages[network] else { continue }
                if kept.end <= now {
                    pages.forget(network)
                } else {
                    page.watched.insert(network)
                    if kept.isSteady { page.versions[network] = kept.version }
                }
            }
            let versions = page.versions
            guard !versions.isEmpty else { return page }
            func row<Key, Row>(_ key: Key, in network: NetworkID, _ rows: KeyPath<DirectoryRows, [Key: Row]>) -> Row? {
                versions[network] == nil ? nil : pages.pages[network]?.rows[keyPath: rows][key]
            }
            for key in facts.users.keys { page.rows.users[key] = row(key, in: key.network, \.users) }
            for key in facts.channels.keys { page.rows.channels[key] = row(key, in: key.network, \.channels) }
            for key in facts.members.keys { page.rows.members[key] = row(key, in: key.network, \.members) }
            return page
        }
    }

    /// Takes in what a batch has read and written.
    func learn(_ lesson: Lesson) {
        guard !lesson.networks.isEmpty else { return }
        pages.withLock { pages in
            pages.change(lesson.networks) { pages in
                let networks = lesson.networks.filter { Self.turn(&pages[$0], $0, lesson) }
                Self.forget(lesson.written, in: &pages, networks)
                Self.keep(lesson.rows, in: &pages, networks)
                for network in networks where pages[network].map({ $0.count > Self.mostRowsOfOne }) ?? false {
                    pages[network]?.rows = DirectoryRows()
                }
            }
            pages.makeRoom()
        }
    }

    /// Has a page stand at the version that a batch leaves; answers whether what the batch has read belongs on it.
    private static func turn(_ page: inout Kept?, _ network: NetworkID, _ lesson: Lesson) -> Bool {
        guard let version = lesson.versions[network] else {
            if page == nil { page = Kept() }
            return false
        }
        let counted = lesson.counted[network] ?? version
        let isAlone = counted == version || counted == version + 1
        guard isAlone, !lesson.swept.contains(network) else {
            page = Kept(version: counted)
            return false
        }
        if let former = page?.version, former > version { return false }
        if page?.version == version { page?.isSteady = true } else { page = Kept() }
        page?.version = counted
        return true
    }

    private static func forget(_ facts: DirectoryFacts?, in pages: inout [NetworkID: Kept], _ networks: Set<NetworkID>)
    {
        guard let facts else { return }
        for key in facts.users.keys where networks.contains(key.network) { pages[key.network]?.rows.users[key] = nil }
        for key in facts.channels.keys where networks.contains(key.network) {
            pages[key.network]?.rows.channels[key] = nil
        }
        for key in facts.members.keys where networks.contains(key.network) {
            pages[key.network]?.rows.members[key] = nil
        }
    }

    private static func keep(_ rows: DirectoryRows, in pages: inout [NetworkID: Kept], _ networks: Set<NetworkID>) {
        for (key, row) in rows.users where row.isShort && networks.contains(key.network) {
            pages[key.network]?.rows.users[key] = row
        }
        for (key, row) in rows.channels where row.isShort && networks.contains(key.network) {
            pages[key.network]?.rows.channels[key] = row
        }
        for (key, row) in rows.members where networks.contains(key.network) {
            pages[key.network]?.rows.members[key] = row
        }
    }
}

extension UserRow {
    /// Whether it takes no more room than a row is counted as.
    fileprivate var isShort: Bool { [displayName, locale, roles].reduce(0) { $0 + ($1?.utf8.count ?? 0) } <= 512 }
}

extension ChannelRow {
    /// Whether it takes no more room than a row is counted as.
    fileprivate var isShort: Bool { [displayName, fallbackName].reduce(0) { $0 + ($1?.utf8.count ?? 0) } <= 512 }
}
