package import CarillonCore
import Postgres

extension PostgresDirectoryStore {
    /// Applies records in their order, in transactions of about a thousand.
    ///
    /// Events go first: a transaction that has to wait for a row gives way, and is tried again with fewer records.
    /// What was applied when it ends early stays; to apply everything again has the same result as if it had not ended.
    package func apply(
        _ next: @escaping @Sendable () throws -> [ImportRecord]?,
        in network: NetworkID
    ) async throws {
        let database = try await databases.toWrite(network)
        var touched = ImportTally()
        var pace = ImportPace()
        while let records = try next() {
            for record in records { touched.count(record) }
            var rest = records[...]
            while !rest.isEmpty {
                let batch = ImportBatch(rest.prefix(pace.size), network: network)
                let listeners = try await database.feedback.listeners(in: network)
                let start = ContinuousClock.now
                do {
                    try await database.pool.withTransaction(ImportPace.options) { session in
                        try batch.write(session, telling: listeners)
                    }
                    rest = rest.dropFirst(pace.size)
                    pace.succeeded()
                } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                    guard pace.failed() else { throw error }
                }
                try await Task.sleep(for: pace.pause(after: ContinuousClock.now - start))
            }
        }
        await database.pool.analyze(touched)
    }
}

extension PostgresPool {
    /// Tells PostgreSQL how large tables have become, after an import that it may not have noticed yet.
    ///
    /// Nothing depends on it, so that nothing comes of it when somebody else is at it or it takes too long.
    fileprivate func analyze(_ touched: ImportTally) async {
        let counts = [
            ("users", touched.users + touched.members), ("channels", touched.channels), ("members", touched.members),
            ("devices", touched.devices), ("subscriptions", touched.subscriptions),
        ]
        for (table, count) in counts where count >= 5_000 {
            let options = TransactionOptions(statementTimeout: .seconds(5), lockTimeout: .milliseconds(50))
            try? await withTransaction(options) { session in
                _ = try session.execute(.unprepared("ANALYZE \(identifier: table)"))
            }
        }
    }
}

/// How much an import does at a time, and how long it rests.
private struct ImportPace {
    /// It waits for a row for less long than events do.
    static let options = TransactionOptions(retries: 5, lockTimeout: .milliseconds(100))
    private static let largest = 1_000
    private static let smallest = 20
    /// How often a batch is tried before the import ends: half a minute, about.
    private static let maximumFailures = 60

    /// How many records the next transaction takes.
    private(set) var size = largest
    private var failures = 0

    mutating func succeeded() {
        failures = 0
        size = min(Self.largest, size * 2)
    }

    /// Whether to try again.
    mutating func failed() -> Bool {
        failures += 1
        size = max(Self.smallest, size / 2)
        return failures < Self.maximumFailures
    }

    /// After a success half of the time that it took, so that others have the rest of it; after failures longer and longer.
    func pause(after duration: Duration) -> Duration {
        guard failures > 0 else { return min(duration / 2, .milliseconds(100)) }
        return .milliseconds(min(500, 25 << min(failures, 5))) * Double.random(in: 0.5...1)
    }
}

/// The records of one batch by kind, the last of each key, in the order in which rows are locked.
private struct ImportBatch: Sendable {
    let network: NetworkID
    /// With nothing more where a user, or a channel, is only named.
    private let people: [(id: UserID, person: Person?)]
    private let channels: [(id: ChannelID, channel: Channel?)]
    private let members: [MemberKey]
    private let devices: DeviceRegistration
    private let tags: [Tag]
    private let subscriptions: [(subscriber: Subscriber, tag: TagID)]

    init(_ records: ArraySlice<ImportRecord>, network: NetworkID) {
        var people: [UserID: Person] = [:]
        var channels: [ChannelID: Channel] = [:]
        var members: Set<MemberKey> = []
        var devices: [Device] = []
        var tags: [Tag] = []
        var subscriptions: [(subscriber: Subscriber, tag: TagID)] = []
        var subscribers: Set<UserID> = []
        for record in records {
            switch record {
            case .user(let person): people[person.id] = person
            case .channel(let channel): channels[channel.id] = channel
            case .member(let channel, let user):
                members.insert(MemberKey(network: network, channel: channel, user: user))
            case .device(let device): devices.append(device)
            case .tag(let tag): tags.append(tag)
            case .subscription(let subscriber, let tag):
                subscriptions.append((subscriber, tag))
                if case .user(let user) = subscriber { subscribers.insert(user) }
            }
        }
        self.network = network
        self.tags = tags
        self.subscriptions = subscriptions
        self.devices = DeviceRegistration(devices, in: network)
        self.members = members.sorted()
        let users = Set(people.keys).union(members.map(\.user)).union(self.devices.users).union(subscribers)
        self.people = users.sorted().map { ($0, people[$0]) }
        self.channels = Set(channels.keys).union(members.map(\.channel)).sorted().map { ($0, channels[$0]) }
    }

    func write(_ session: borrowing PostgresSession, telling listeners: FeedbackListeners) throws {
        _ = try session.declare(tags, in: network)
        let (start, answers) = try session.start(with: devices.locking + [.isThere(network)])
        guard answers.last?.affectedRows == 1 else { throw try session.absence(of: network) }
        try writePeople(at: start.moment, session)
        try writeChannels(at: start.moment, session)
        try session.settleRemovals(of: members)
        try session.makeMembers(members, as: start)
        let touched = try devices.store(session, telling: listeners).touched
        try session.subscribe(subscriptions, in: network, telling: listeners)
        try session.recordChanges(of: touched)
        let describesAnybody = people.contains { $0.person != nil } || channels.contains { $0.channel != nil }
        if describesAnybody { try session.countDirectory(of: network) }
    }

    private func writePeople(at moment: PostgresTimestamp, _ session: borrowing PostgresSession) throws {
        let rows = NamedRows(
            table: "users",
            key: "user_id",
            ids: people.map(\.id.rawValue),
            isDescribed: people.map { $0.person != nil },
            columns: [
                ("display_name", "\(people.map { $0.person?.displayName })"),
                ("locale", "\(people.map { $0.person?.locale })"),
                ("roles", "\(people.map { $0.person?.roles.map(StoredRoles.text) })"),
            ],
            addedAt: ("added_at", "\(moment)")
        )
        try rows.write(in: network, at: moment, session)
    }

    private func writeChannels(at moment: PostgresTimestamp, _ session: borrowing PostgresSession) throws {
        let rows = NamedRows(
            table: "channels",
            key: "channel_id",
            ids: channels.map(\.id.rawValue),
            isDescribed: channels.map { $0.channel != nil },
            columns: [
                ("display_name", "\(channels.map { $0.channel?.displayName })"),
                ("direct", "\(channels.map { $0.channel?.isDirect })"),
            ]
        )
        try rows.write(in: network, at: moment, session)
    }
}

/// People or channels, of whom some are described and others only named.
private struct NamedRows {
    let table: String
    let key: String
    let ids: [String]
    let isDescribed: [Bool]
    /// What describes them, each with a value for every row.
    let columns: [(name: String, values: SQL)]
    /// When those were added who are new, where that is kept.
    var addedAt: (name: SQL, value: SQL)?

    /// Replaces descriptions, and adds those who are only named where they are new.
    func write(in network: NetworkID, at moment: PostgresTimestamp, _ session: borrowing PostgresSession) throws {
        guard !ids.isEmpty else { return }
        let epoch = PostgresTimestamp(microsecondsSince1970: 0)
        var names: SQL = ""
        var values: SQL = ""
        var described: SQL = ""
        var updates: SQL = ""
        for column in columns {
            let name: SQL = "\(identifier: column.name)"
            names += ", \(sql: name)"
            values += ", \(sql: column.values)"
            described += ", n.\(sql: name)"
            updates += "\(sql: name) = CASE WHEN EXCLUDED.facts_at > 'epoch' THEN EXCLUDED.\(sql: name) "
            updates += "ELSE t.\(sql: name) END, "
        }
        let key: SQL = "\(identifier: key)"
        let (added, at): (SQL, SQL) = addedAt.map { (", " + $0.name, ", " + $0.value) } ?? ("", "")
        try session.execute(
            """
            INSERT INTO \(identifier: table) AS t (network_id, \(sql: key)\(sql: names), facts_at\(sql: added))
            SELECT \(network.rawValue), n.id\(sql: described), n.facts_at\(sql: at)
            FROM unnest(\(ids), \(isDescribed), \(isDescribed.map { $0 ? moment : epoch })\(sql: values))
                AS n (id, is_described, facts_at\(sql: names))
            LEFT JOIN LATERAL (
                SELECT NOT k.deleted AS is_there FROM \(identifier: table) k
                WHERE k.network_id = \(network.rawValue) AND k.\(sql: key) = n.id
                LIMIT 1
            ) AS known ON true
            WHERE n.is_described OR known.is_there IS NOT TRUE
            ON CONFLICT (network_id, \(sql: key)) DO UPDATE
            SET \(sql: updates)facts_at = greatest(t.facts_at, EXCLUDED.facts_at), deleted = false
            """
        )
    }
}
