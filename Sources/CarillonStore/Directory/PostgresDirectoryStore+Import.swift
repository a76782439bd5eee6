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
        var touched = ImportTally()
        var pace = ImportPace()
        while let records = try next() {
            for record in records { touched.count(record) }
            var rest = records[...]
            while !rest.isEmpty {
                let batch = ImportBatch(rest.prefix(pace.size), network: network)
                let listeners = try await feedback.listeners(in: network)
                let start = ContinuousClock.now
                do {
                    try await pool.withTransaction(ImportPace.options) { try batch.write($0, telling: listeners) }
                    rest = rest.dropFirst(pace.size)
                    pace.succeeded()
                } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                    guard pace.failed() else { throw error }
                }
                try await Task.sleep(for: pace.pause(after: ContinuousClock.now - start))
            }
        }
        await analyze(touched)
    }

    /// Tells PostgreSQL how large tables have become, after an import that it may not have noticed yet.
    ///
    /// Nothing depends on it, so that nothing comes of it when somebody else is at it or it takes too long.
    private func analyze(_ touched: ImportTally) async {
        let counts = [
            ("users", touched.users + touched.members), ("channels", touched.channels), ("members", touched.members),
            ("devices", touched.devices), ("subscriptions", touched.subscriptions),
        ]
        for (table, count) in counts where count >= 5_000 {
            let options = TransactionOptions(statementTimeout: .seconds(5), lockTimeout: .milliseconds(50))
            try? await pool.withTransaction(options) { session in
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
    private struct User {
        var id: UserID
        /// Nothing where the user is only named.
        var person: Person?
    }

    let network: NetworkID
    private let people: [User]
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
        self.people = users.sorted().map { User(id: $0, person: people[$0]) }
        self.channels = Set(channels.keys).union(members.map(\.channel)).sorted().map { ($0, channels[$0]) }
    }

    func write(_ session: borrowing PostgresSession, telling listeners: FeedbackListeners) throws {
        _ = try session.declare(tags, in: network)
        try devices.lock(session)
        try writePeople(session)
        try writeChannels(session)
        try session.settleRemovals(of: members)
        try session.makeMembers(members)
        try devices.write(session, telling: listeners)
        try session.subscribe(subscriptions, in: network, telling: listeners)
    }

    /// Replaces descriptions, and adds those who are only named where they are new.
    private func writePeople(_ session: borrowing PostgresSession) throws {
        guard !people.isEmpty else { return }
        try session.execute(
            """
            INSERT INTO users AS u (network_id, user_id, display_name, locale, roles, facts_at)
            SELECT \(network.rawValue), n.user_id, n.display_name, n.locale, n.roles,
                   CASE WHEN n.is_described THEN now() ELSE 'epoch' END
            FROM unnest(\(people.map(\.id.rawValue)), \(people.map { $0.person != nil }),
                        \(people.map { $0.person?.displayName }), \(people.map { $0.person?.locale }),
                        \(people.map { $0.person?.roles.map(StoredRoles.text) }))
                AS n (user_id, is_described, display_name, locale, roles)
            LEFT JOIN LATERAL (
                SELECT NOT u.deleted AS is_there FROM users u
                WHERE u.network_id = \(network.rawValue) AND u.user_id = n.user_id
                LIMIT 1
            ) AS known ON true
            WHERE n.is_described OR known.is_there IS NOT TRUE
            ON CONFLICT (network_id, user_id) DO UPDATE
            SET display_name = CASE WHEN EXCLUDED.facts_at > 'epoch' THEN EXCLUDED.display_name ELSE u.display_name END,
                locale = CASE WHEN EXCLUDED.facts_at > 'epoch' THEN EXCLUDED.locale ELSE u.locale END,
                roles = CASE WHEN EXCLUDED.facts_at > 'epoch' THEN EXCLUDED.roles ELSE u.roles END,
                facts_at = greatest(u.facts_at, EXCLUDED.facts_at), deleted = false
            """
        )
    }

    private func writeChannels(_ session: borrowing PostgresSession) throws {
        guard !channels.isEmpty else { return }
        try session.execute(
            """
            INSERT INTO channels AS c (network_id, channel_id, display_name, direct, facts_at)
            SELECT \(network.rawValue), n.channel_id, n.display_name, n.direct,
                   CASE WHEN n.is_described THEN now() ELSE 'epoch' END
            FROM unnest(\(channels.map(\.id.rawValue)), \(channels.map { $0.channel != nil }),
                        \(channels.map { $0.channel?.displayName }), \(channels.map { $0.channel?.isDirect }))
                AS n (channel_id, is_described, display_name, direct)
            LEFT JOIN LATERAL (
                SELECT NOT c.deleted AS is_there FROM channels c
                WHERE c.network_id = \(network.rawValue) AND c.channel_id = n.channel_id
                LIMIT 1
            ) AS known ON true
            WHERE n.is_described OR known.is_there IS NOT TRUE
            ON CONFLICT (network_id, channel_id) DO UPDATE
            SET display_name = CASE WHEN EXCLUDED.facts_at > 'epoch' THEN EXCLUDED.display_name ELSE c.display_name END,
                direct = CASE WHEN EXCLUDED.facts_at > 'epoch' THEN EXCLUDED.direct ELSE c.direct END,
                facts_at = greatest(c.facts_at, EXCLUDED.facts_at), deleted = false
            """
        )
    }
}
