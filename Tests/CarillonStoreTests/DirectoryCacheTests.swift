import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// That what is remembered of a directory never says more than a look at it would.
@Suite struct DirectoryCacheTests {
    @Test(arguments: 0..<6)
    func `whatever happens, the directory is what it is without a cache`(seed: Int) async throws {
        try await StoreScene.withStores { scene, pool in
            let start = WallClock.system.now() + .seconds(86_400)
            let replicas = [PostgresEventInbox(pool: pool), PostgresEventInbox(pool: pool)]
            var story = DirectoryStory(seed: UInt64(seed), start: start)
            for number in 0..<250 {
                let step = story.next()
                let replica = replicas[number % 3 == 0 ? 1 : 0]
                try await step.happen(in: scene, to: scene.network, number, by: replica)
                try await step.happen(in: scene, to: scene.otherNetwork, number, by: PostgresEventInbox(pool: pool))
            }
            let remembered = try await pool.directory(of: scene.network, since: start)
            #expect(try await pool.directory(of: scene.otherNetwork, since: start) == remembered)
            #expect(remembered.count > 5)
        }
    }

    @Test func `messages among people who are known read nothing of the directory`() async throws {
        try await StoreScene.withStores(oneConnection()) { scene, pool in
            let story = DirectoryStory(seed: 0, start: .seconds(1))
            let created = story.event(.channelCreated, at: .seconds(1), names: "1", of: ["a", "b"], by: "a")
            _ = try await scene.inbox.accept([scene.incoming(created)])
            func send(_ number: Int) async throws -> Int64 {
                let event = story.event(.messageSent, "\(number)", at: .seconds(1), names: "1", of: ["b"], by: "a")
                let before = try await pool.rowsReadByIndex(of: ["users", "channels", "members"])
                _ = try await scene.inbox.accept([scene.incoming(event)])
                return try await pool.rowsReadByIndex(of: ["users", "channels", "members"]) - before
            }
            // Of a network that is quiet nothing is asked but what is looked for; then twice whether its version stands still.
            for number in 0..<2 { #expect(try await send(number) > 0) }
            #expect(try await send(2) == 0)
            // Another replica gives somebody a name, and this one looks: once for what it had, once to see that it stays so.
            let renamed = story.event(.messageSent, "other", at: .seconds(1), names: "2", of: ["b"], by: "a")
            _ = try await PostgresEventInbox(pool: pool).accept([scene.incoming(renamed)])
            #expect(try await send(3) > 0)
            #expect(try await pool.all("SELECT display_name FROM users ORDER BY 1", as: String.self) == ["a 1", "b 1"])
            #expect(try await send(4) > 0)
            #expect(try await send(5) == 0)
        }
    }

    @Test func `who confirms a name that another one has just changed counts what they change back`() async throws {
        try await StoreScene.withStores { scene, pool in
            let story = DirectoryStory(seed: 0, start: .seconds(1))
            func event(_ id: String, at time: Timestamp, _ names: String) -> IncomingEvent {
                scene.incoming(story.event(.messageSent, id, at: time, names: names, of: ["b"], by: "a"))
            }
            _ = try await scene.inbox.accept([event("first", at: .seconds(10), "1")])
            // It has looked, and waits for whoever writes: it confirms what is another name by the time that it may write.
            let held = await pool.hold(
                "UPDATE users SET display_name = 'b 2', facts_at = facts_at + interval '1 s' WHERE user_id = 'b'"
            )
            let before = try await version(of: scene.network, pool)
            let confirming = event("second", at: .seconds(20), "1")
            async let accepted = scene.inbox.accept([confirming], lockWait: .seconds(60))
            while try await !pool.isAnybodyWaiting() { try await Task.sleep(for: .milliseconds(5)) }
            try await held.release()
            #expect(try await accepted.count == 1)
            #expect(try await pool.all("SELECT display_name FROM users ORDER BY 1", as: String.self) == ["a 1", "b 1"])
            #expect(try await version(of: scene.network, pool) == before + 1)
        }
    }

    private func version(of network: NetworkID, _ pool: PostgresPool) async throws -> Int64 {
        let counted: SQL = "SELECT seq FROM change_counters WHERE network_id = \(network.rawValue) AND slot = 1"
        return try await pool.first(counted, as: Int64.self) ?? 0
    }

    @Test func `what is news of users and channels is the same here and there`() async throws {
        try await StoreScene.withStores { scene, pool in
            var random = SplitMix(state: 7)
            func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
            func moment() -> Timestamp { Timestamp(milliseconds: .random(in: 0..<6, using: &random) * 500) }
            func text() -> String? { ["", "é", "e\u{301}", "A", nil].randomElement(using: &random) ?? nil }
            func stated<Value>(_ value: Value?) -> Stated<Value>? {
                chance(0.6) ? Stated(value: value, at: moment()) : nil
            }
            var users: [(key: UserKey, value: UserFact)] = []
            var channels: [(key: ChannelKey, value: ChannelFact)] = []
            var userRows: [UserKey: UserRow] = [:]
            var channelRows: [ChannelKey: ChannelRow] = [:]
            for number in 0..<2_000 {
                let id = "n\(10_000 + number)"
                var user = UserFact(seenAt: moment())
                user.displayName = stated(text())
                user.locale = stated(text())
                user.roles = stated(text().map { [$0] })
                if chance(0.1) { (user.wipedAt, user.isDeleted) = (moment(), chance(0.5)) }
                let key = UserKey(network: scene.network, user: UserID(trusted: id))
                users.append((key, user))
                userRows[key] = UserRow(
                    factsAt: moment().stored,
                    wipedAt: nil,
                    displayName: text(),
                    locale: text(),
                    roles: text().map { StoredRoles.text(of: [$0]) }
                )
                var channel = ChannelFact(seenAt: moment())
                channel.isOnlyMentioned = chance(0.3)
                channel.displayName = stated(text())
                channel.fallbackName = text()
                channel.endsFallback = channel.fallbackName != nil && chance(0.3)
                channel.isDirect = stated(chance(0.5))
                if chance(0.1) { (channel.wipedAt, channel.isDeleted) = (moment(), chance(0.5)) }
                let place = ChannelKey(network: scene.network, channel: ChannelID(trusted: id))
                channels.append((place, channel))
                channelRows[place] = ChannelRow(
                    factsAt: moment().stored,
                    emptiedAt: nil,
                    displayName: text(),
                    fallbackName: text(),
                    isDirect: chance(0.3) ? nil : chance(0.5)
                )
            }
            let (said, spoken) = (users, channels)
            let (rows, places) = (said.compactMap { userRows[$0.key] }, spoken.compactMap { channelRows[$0.key] })
            let (ofUsers, ofChannels) = try await pool.withTransaction { session in
                let networks = said.map(\.key.network.rawValue)
                try session.execute(
                    """
                    INSERT INTO users (network_id, user_id, facts_at, display_name, locale, roles)
                    SELECT * FROM unnest(\(networks), \(said.map(\.key.user.rawValue)), \(rows.map(\.factsAt)),
                                         \(rows.map(\.displayName)), \(rows.map(\.locale)), \(rows.map(\.roles)))
                    """
                )
                try session.execute(
                    """
                    INSERT INTO channels (network_id, channel_id, facts_at, display_name, fallback_name, direct)
                    SELECT * FROM unnest(\(networks), \(spoken.map(\.key.channel.rawValue)), \(places.map(\.factsAt)),
                                         \(places.map(\.displayName)), \(places.map(\.fallbackName)), \(places.map(\.isDirect)))
                    """
                )
                return (
                    try session.query(
                        """
                        SELECT (\(sql: .isNewsOfUser)) IS TRUE FROM \(sql: .saying(said))
                        JOIN users u ON u.network_id = n.network_id AND u.user_id = n.user_id ORDER BY n.position
                        """
                    ) { row in try row.decode(0, as: Bool.self) },
                    try session.query(
                        """
                        SELECT (\(sql: .isNewsOfChannel)) IS TRUE FROM \(sql: .saying(spoken))
                        JOIN channels c ON c.network_id = n.network_id AND c.channel_id = n.channel_id ORDER BY n.position
                        """
                    ) { row in try row.decode(0, as: Bool.self) }
                )
            }
            for (index, news) in ofUsers.enumerated() {
                let (fact, row) = (said[index].value, rows[index])
                #expect(fact.isNews(of: row) == news, "\(fact) \(row)")
            }
            for (index, news) in ofChannels.enumerated() {
                let (fact, row) = (spoken[index].value, places[index])
                #expect(fact.isNews(of: row) == news, "\(fact) \(row)")
            }
            #expect(Set(ofUsers).count == 2 && Set(ofChannels).count == 2)
        }
    }

    @Test func `a network that needs much room is forgotten before its neighbours`() {
        let cache = DirectoryCache()
        func facts(_ network: NetworkID, users: Int) -> DirectoryFacts {
            let people = (0..<users).map { Person(id: UserID(trusted: "u\($0)"), displayName: "n") }
            let event = Event(
                sourceID: "e",
                type: .messageSent,
                timestamp: .seconds(1),
                channel: Channel(id: "c"),
                members: people
            )
            return DirectoryFacts(of: [
                IncomingEvent(
                    networkID: network,
                    id: EventID(UUIDv7Generator().next()),
                    receivedAt: .seconds(1),
                    event: event,
                    body: [],
                    leased: false
                )
            ])
        }
        func learn(_ network: NetworkID, users: Int) {
            var batch = DirectoryCache.CommittedBatch(networks: [network], versions: [network: 1])
            for key in facts(network, users: users).users.keys {
                batch.rows.users[key] = UserRow(
                    factsAt: Timestamp.seconds(1).stored,
                    wipedAt: nil,
                    displayName: "n",
                    locale: nil,
                    roles: nil
                )
            }
            for _ in 0..<2 { cache.learn(batch) }
        }
        func known(_ network: NetworkID, users: Int) -> Int {
            cache.rows(about: facts(network, users: users), of: [network]).rows.users.count
        }
        learn("small", users: 5)
        #expect(known("small", users: 5) == 5)
        for number in 0..<20 { learn(NetworkID(trusted: "large-\(number)"), users: 4_000) }
        #expect(known("small", users: 5) == 5)
        #expect(known("large-0", users: 4_000) == 0)
        #expect(known("large-19", users: 4_000) == 4_000)
        learn("huge", users: 5_000)
        #expect(known("huge", users: 5_000) == 0)
        #expect(known("large-19", users: 4_000) == 4_000)
    }
}

/// What happens to a few people in a few channels, by a seed.
private struct DirectoryStory {
    enum Step {
        case event(Event)
        case putUser(Person)
        case putChannel(Channel)
        case addMember(UserID)
        case removeMember(UserID)
        case replaceMembers([UserID])
        case deleteUser(UserID)
        case deleteChannel
        case importing(Person, Channel)
        case foundAnew
    }

    private var random: SplitMix
    private var time: Timestamp

    init(seed: UInt64, start: Timestamp) {
        random = SplitMix(state: seed)
        time = start
    }

    mutating func next() -> Step {
        time = time + .milliseconds([-900, -300, 0, 100, 400, 700, 1_100].randomElement(using: &random) ?? 0)
        let name = ["1", "2"].randomElement(using: &random) ?? ""
        let people = ["a", "b", "c", "d"].shuffled(using: &random).map { UserID(trusted: $0) }
        let others = Array(people.dropFirst().prefix(Int.random(in: 0...3, using: &random)))
        switch Int.random(in: 0..<40, using: &random) {
        case 0: return .putUser(Person(id: people[0], displayName: name, locale: "en"))
        case 1: return .putChannel(Channel(id: "c", displayName: name))
        case 2: return .addMember(people[0])
        case 3: return .removeMember(people[0])
        case 4: return .replaceMembers(others)
        case 5: return .deleteUser(people[0])
        case 6: return .deleteChannel
        case 7: return .importing(Person(id: people[0], displayName: name), Channel(id: "c", displayName: name))
        case 8: return .foundAnew
        case 9: return .event(event(.memberLeft, at: time, names: name, of: [people[0]], by: nil))
        case 10: return .event(event(.memberJoined, at: time, names: name, of: [people[0]], by: nil))
        case 11: return .event(event(.channelDeleted, at: time, names: nil, of: [], by: people[0]))
        case 12: return .event(event(.userDeleted, at: time, names: nil, of: [], by: people[0]))
        case 13: return .event(event(.channelUpdated, at: time, names: name, of: [], by: people[0]))
        default:
            let names = [nil, "1", "1", "1", name].randomElement(using: &random) ?? nil
            return .event(event(.messageSent, at: time, names: names, of: others, by: people[0]))
        }
    }

    func event(
        _ type: EventType,
        _ id: String = "",
        at timestamp: Timestamp,
        names: String?,
        of members: [UserID],
        by actor: UserID?
    ) -> Event {
        func person(_ id: UserID) -> Person { Person(id: id, displayName: names.map { "\(id.rawValue) \($0)" }) }
        return Event(
            sourceID: id,
            type: type,
            timestamp: timestamp,
            channel: type == .userDeleted ? nil : Channel(id: "c", displayName: names),
            actor: actor.map(person),
            members: members.map(person),
            message: type == .messageSent ? Message(kind: .text, text: "Hello") : nil
        )
    }
}

extension DirectoryStory.Step {
    func happen(in scene: StoreScene, to network: NetworkID, _ number: Int, by replica: PostgresEventInbox) async throws
    {
        switch self {
        case .event(var event):
            event.sourceID = "\(number)"
            _ = try await replica.accept([scene.incoming(event, in: network)], lockWait: .seconds(60))
        case .putUser(let person): _ = try await scene.directory.putUser(person, in: network)
        case .putChannel(let channel): _ = try await scene.directory.putChannel(channel, in: network)
        case .addMember(let user): _ = try await scene.directory.addMember(user, to: "c", in: network)
        case .removeMember(let user): _ = try await scene.directory.removeMember(user, from: "c", in: network)
        case .replaceMembers(let users): try await scene.directory.replaceMembers(of: "c", with: users, in: network)
        case .deleteUser(let user): _ = try await scene.directory.deleteUser(user, in: network)
        case .deleteChannel: _ = try await scene.directory.deleteChannel("c", in: network)
        case .importing(let person, let channel):
            try await scene.importing(
                [[.user(person), .channel(channel), .member(channel.id, person.id)]],
                in: network
            )
        case .foundAnew:
            #expect(try await scene.accounts.deleteNetwork(network))
            try await scene.accounts.createNetwork(Network(id: network, createdAt: WallClock.system.now()))
        }
    }
}

extension PostgresPool {
    /// All that the directory says of a network; moments before `start` are the database's own.
    fileprivate func directory(of network: NetworkID, since start: Timestamp) async throws -> [String] {
        try await all(
            """
            SELECT concat_ws(' ', 'user', user_id, display_name, locale, roles, deleted, greatest(facts_at, \(start.stored)))
            FROM users WHERE network_id = \(network.rawValue)
            UNION ALL
            SELECT concat_ws(' ', 'channel', channel_id, display_name, fallback_name, direct, deleted,
                             greatest(facts_at, \(start.stored)))
            FROM channels WHERE network_id = \(network.rawValue)
            UNION ALL
            SELECT concat_ws(' ', 'member', user_id, is_member, greatest(facts_at, \(start.stored)))
            FROM members WHERE network_id = \(network.rawValue)
            ORDER BY 1
            """,
            as: String.self
        )
    }
}
