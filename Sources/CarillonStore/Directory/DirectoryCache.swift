import CarillonCore
import Postgres
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

    private struct CachedNetwork {
        /// `nil` where there was but one batch lately: of most networks there is no more, and nothing is worth asking for.
        var version: Int64?
        /// Whether two batches have seen this version.
        var isSteady = false
        var rows = DirectoryRows()
        let end = ContinuousClock.now + lifetime

        var count: Int { rows.count + 1 }
    }

    private typealias Cached = [NetworkID: CachedNetwork]

    private struct State {
        var networks: Cached = [:]
        /// How many rows they have, and networks.
        private var count = 0

        /// Changes what is cached of some networks, in its place.
        mutating func change(_ changed: some Sequence<NetworkID>, _ body: (inout Cached) -> Void) {
            for network in changed { count -= networks[network]?.count ?? 0 }
            body(&networks)
            for network in changed { count += networks[network]?.count ?? 0 }
        }

        mutating func forget(_ network: NetworkID) { change([network]) { $0[network] = nil } }

        /// Makes room for a quarter more than there is, beginning with what is too old, and then with those that have most.
        mutating func makeRoom() {
            guard count > mostRows else { return }
            let now = ContinuousClock.now
            for (network, cached) in networks where cached.end <= now { forget(network) }
            let byNeed = networks.sorted { ($1.value.count, $0.value.end) < ($0.value.count, $1.value.end) }
            for (network, _) in byNeed {
                guard count > mostRows / 4 * 3 else { return }
                forget(network)
            }
        }
    }

    /// What is known of what a batch's facts are about.
    struct KnownRows: Sendable {
        var rows = DirectoryRows()
        /// The networks of which rows are given, and the versions at which they were read.
        var versions: [NetworkID: Int64] = [:]
        /// The networks whose versions are worth asking for.
        var watched: Set<NetworkID> = []
    }

    /// What a batch has read and written, once it is committed.
    struct CommittedBatch: Sendable {
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

    private let state = Mutex(State())

    /// What is known of what facts are about.
    func rows(about facts: DirectoryFacts, of networks: Set<NetworkID>) -> KnownRows {
        guard !facts.isEmpty else { return KnownRows() }
        return state.withLock { state in
            var known = KnownRows()
            let now = ContinuousClock.now
            for network in networks {
                guard let cached = state.networks[network] else { continue }
                if cached.end <= now {
                    state.forget(network)
                } else {
                    known.watched.insert(network)
                    if cached.isSteady { known.versions[network] = cached.version }
                }
            }
            let versions = known.versions
            guard !versions.isEmpty else { return known }
            func row<Key, Row>(_ key: Key, in network: NetworkID, _ rows: KeyPath<DirectoryRows, [Key: Row]>) -> Row? {
                versions[network] == nil ? nil : state.networks[network]?.rows[keyPath: rows][key]
            }
            for key in facts.users.keys { known.rows.users[key] = row(key, in: key.network, \.users) }
            for key in facts.channels.keys { known.rows.channels[key] = row(key, in: key.network, \.channels) }
            for key in facts.members.keys { known.rows.members[key] = row(key, in: key.network, \.members) }
            return known
        }
    }

    /// Takes in what a batch has read and written.
    func learn(_ batch: CommittedBatch) {
        guard !batch.networks.isEmpty else { return }
        state.withLock { state in
            state.change(batch.networks) { cached in
                let networks = batch.networks.filter { Self.advance(&cached[$0], $0, batch) }
                Self.forget(batch.written, in: &cached, networks)
                Self.keep(batch.rows, in: &cached, networks)
                for network in networks where cached[network].map({ $0.count > Self.mostRowsOfOne }) ?? false {
                    cached[network]?.rows = DirectoryRows()
                }
            }
            state.makeRoom()
        }
    }

    /// Brings a network to the version that a batch leaves; answers whether what the batch has read belongs to it.
    private static func advance(_ cached: inout CachedNetwork?, _ network: NetworkID, _ batch: CommittedBatch) -> Bool {
        guard let version = batch.versions[network] else {
            if cached == nil { cached = CachedNetwork() }
            return false
        }
        let counted = batch.counted[network] ?? version
        let isAlone = counted == version || counted == version + 1
        guard isAlone, !batch.swept.contains(network) else {
            cached = CachedNetwork(version: counted)
            return false
        }
        if let former = cached?.version, former > version { return false }
        if cached?.version == version { cached?.isSteady = true } else { cached = CachedNetwork() }
        cached?.version = counted
        return true
    }

    private static func forget(_ facts: DirectoryFacts?, in cached: inout Cached, _ networks: Set<NetworkID>) {
        guard let facts else { return }
        for key in facts.users.keys where networks.contains(key.network) { cached[key.network]?.rows.users[key] = nil }
        for key in facts.channels.keys where networks.contains(key.network) {
            cached[key.network]?.rows.channels[key] = nil
        }
        for key in facts.members.keys where networks.contains(key.network) {
            cached[key.network]?.rows.members[key] = nil
        }
    }

    private static func keep(_ rows: DirectoryRows, in cached: inout Cached, _ networks: Set<NetworkID>) {
        for (key, row) in rows.users where row.isShort && networks.contains(key.network) {
            cached[key.network]?.rows.users[key] = row
        }
        for (key, row) in rows.channels where row.isShort && networks.contains(key.network) {
            cached[key.network]?.rows.channels[key] = row
        }
        for (key, row) in rows.members where networks.contains(key.network) {
            cached[key.network]?.rows.members[key] = row
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

/// How often networks' directories have been changed, so that what was read of them is known to hold, or not.
///
/// A version is counted up in the transaction that changes a name or a description, or ends a membership. What is added counts nothing, nor
/// does what merely confirms a row. It is the second counter of ``recordingChanges(of:)``'s table, which
/// outlives its network like the first.
struct DirectoryVersions {
    private let numbers: [NetworkID: Int64]

    /// What reads them; to be run before what is read of the networks' directories.
    static func statement(for networks: Set<NetworkID>) -> SQL {
        """
        SELECT n.network_id, c.seq
        FROM unnest(\(networks.sorted().map(\.rawValue))) AS n (network_id)
        CROSS JOIN LATERAL (
            SELECT c.seq FROM change_counters c WHERE c.network_id = n.network_id AND c.slot = 1 LIMIT 1
        ) AS c
        """
    }

    /// Takes in what the statement, or those that count up, answered.
    init(_ answers: some Sequence<StatementResult>) throws {
        var numbers: [NetworkID: Int64] = [:]
        for answer in answers {
            try answer.forEach { row in numbers[try row.id(0)] = try row.decode(1, as: Int64.self) }
        }
        self.numbers = numbers
    }

    /// That of a network, in which nothing may have been changed ever.
    subscript(network: NetworkID) -> Int64 { numbers[network] ?? 0 }
}

extension SQL {
    /// What counts up the versions of networks' directories, and answers them: the last that a transaction writes, behind
    /// ``recordingChanges(of:)``, since they stay locked until its end. Of several networks those that there are not are passed over.
    static func countingDirectories(of networks: Set<NetworkID>) -> SQL {
        let rows: SQL
        if let network = networks.first, networks.count == 1 {
            rows = "VALUES (\(network.rawValue), 1, 1, now())"
        } else {
            rows = """
                SELECT n.network_id, 1, 1, now() FROM unnest(\(networks.sorted().map(\.rawValue))) AS n (network_id)
                \(sql: .ofNetworks)
                """
        }
        return .countingUp(rows) + " RETURNING c.network_id, c.seq"
    }
}

extension PostgresSession {
    /// Notes that a network's directory was changed; as the last that the transaction writes.
    func countDirectory(of network: NetworkID) throws {
        try pipeline([.countingDirectories(of: [network])])
    }
}
