import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What it costs, and what it needs, that messages make members.
@Suite struct KnownMemberTests {
    @Test func `a message from and to known members writes nothing of them`() async throws {
        try await StoreScene.withStores { scene, pool in
            _ = try await scene.inbox.accept([
                scene.incoming(event(.channelCreated, "created", from: nil, members: ["a", "b", "d"]))
            ])
            let before = try await pool.directoryVersions()
            for number in 0..<3 {
                _ = try await scene.inbox.accept([
                    scene.incoming(event(.messageSent, "message-\(number)", from: "a", members: ["b", "d"])),
                    scene.incoming(event(.messageSent, "another-\(number)", from: "b", members: [])),
                ])
            }
            #expect(try await pool.directoryVersions() == before)
            _ = try await scene.inbox.accept([
                scene.incoming(event(.messageSent, "last", from: "a", members: ["b", "new"]))
            ])
            let after = try await pool.directoryVersions()
            #expect(after.subtracting(before).count == 2, "one user and one membership are new")
            #expect(before.isSubset(of: after))
        }
    }

    @Test func `looking for one membership reads none of a person's others`() async throws {
        try await StoreScene.withStores(oneConnection()) { scene, pool in
            func fill(_ channel: String, with user: String?, membersEach: Int) async throws {
                try await pool.execute(
                    """
                    INSERT INTO members (network_id, channel_id, user_id, is_member, facts_at)
                    SELECT \(scene.network.rawValue), \(channel) || n / \(membersEach), coalesce(\(user), 'u' || n), true, now()
                    FROM generate_series(1, 1000) AS n
                    """
                )
            }
            // A statement stays as it was planned when everybody was in one channel alone.
            try await fill("alone", with: nil, membersEach: 5)
            try await pool.withConnection { _ = try $0.execute(.unprepared("VACUUM ANALYZE members")) }
            func send(_ id: String, from sender: UserID) async throws {
                _ = try await scene.inbox.accept([scene.incoming(event(.messageSent, id, from: sender, members: []))])
            }
            for number in 0..<2 { try await send("before-\(number)", from: "b") }
            try await fill("many", with: "a", membersEach: 1)
            try await send("first", from: "a")
            let before = try await pool.rowsReadByIndex(of: ["members"])
            try await send("second", from: "a")
            #expect(try await pool.rowsReadByIndex(of: ["members"]) - before < 10)
        }
    }

    @Test func `looking for the last of a channel's members reads none of those before`() async throws {
        try await StoreScene.withStores(oneConnection()) { scene, pool in
            try await pool.populate(scene.network.rawValue, channel: "c", users: 20_000)
            let last = UserID("u1020000")
            for (number, isCounted) in [false, true].enumerated() {
                let sent = scene.incoming(event(.messageSent, "sent-\(number)", from: last, members: []))
                let accepted = try await pool.blocksOfMembers { _ = try await scene.inbox.accept([sent]) }
                var joined = event(.memberJoined, "joined-\(number)", from: nil, members: [last])
                joined.isOfNewMembersOnly = true
                let query = RecipientQuery(networkID: scene.network, eventID: EventID(scene.ids.next()), event: joined)
                var page: RecipientPage?
                let all = try await pool.blocksOfMembers { page = try await scene.recipients.page(for: query) }
                var other = query
                other.event.members = []
                let without = try await pool.blocksOfMembers { _ = try await scene.recipients.page(for: other) }
                guard isCounted else { continue }
                #expect(accepted <= 19)
                #expect(all - without <= 19)
                #expect(page?.membersFromBefore == [last])
            }
        }
    }

    @Test func `sweeping a channel goes along its members once`() async throws {
        try await StoreScene.withStores(oneConnection()) { scene, pool in
            try await pool.populate(scene.network.rawValue, channel: "c", users: 20_000)
            try await pool.execute(
                """
                INSERT INTO channels (network_id, channel_id, facts_at, emptied_at, unswept)
                VALUES (\(scene.network.rawValue), 'c', 'epoch', '1969-12-31', true)
                """
            )
            let size = try await pool.first(
                "SELECT (pg_relation_size('members') + pg_relation_size('members_pkey')) / 8192",
                as: Int64.self
            )
            let read = try await pool.blocksOfMembers { try await RemovalSweep(pool: pool).sweep() }
            #expect(read < 2 * (size ?? 0))
            #expect(try await pool.first("SELECT unswept FROM channels", as: Bool.self) == false)
        }
    }

    @Test func `a message reaches whom it lists though another one that came later was written first`() async throws {
        try await StoreScene.withStores { scene, pool in
            let others = event(.messageSent, "first", from: "z", members: ["a"])
            _ = try await scene.inbox.accept([scene.incoming(others)])
            // As if its batch had taken its marks after that of the next one.
            try await pool.execute(
                "UPDATE members SET since_event = 'ffffffff-ffff-ffff-7fff-ffffffffffff' WHERE user_id = 'a'"
            )
            let listing = event(.messageSent, "second", from: "z", members: ["a"])
            let incoming = scene.incoming(listing)
            _ = try await scene.inbox.accept([incoming])
            let query = RecipientQuery(networkID: scene.network, eventID: incoming.id, event: listing)
            #expect(try await scene.recipients.page(for: query).recipients.map(\.userID) == ["a", "z"])
        }
    }

    @Test func `looking for members of a batch that is all known already does no harm`() async throws {
        try await StoreScene.withStores(oneConnection()) { scene, _ in
            let first = scene.incoming(event(.messageSent, "same", from: "a", members: ["b"]))
            _ = try await scene.inbox.accept([first])
            let again = scene.incoming(event(.messageSent, "same", from: "d", members: ["e"]))
            #expect(try await scene.inbox.accept([again]) == [.duplicate(first.id)])
            #expect(try await scene.directory.members(of: "c", in: scene.network, after: nil, limit: 9) == ["a", "b"])
        }
    }

    private func event(_ type: EventType, _ id: String, from sender: UserID?, members: [UserID]) -> Event {
        Event(
            sourceID: id,
            type: type,
            timestamp: WallClock.system.now(),
            channel: Channel(id: "c"),
            actor: sender.map { Person(id: $0) },
            members: members.map { Person(id: $0) },
            message: type == .messageSent ? Message(kind: .text, text: "Hello") : nil
        )
    }
}

extension PostgresPool {
    /// How many blocks of memberships and their indexes are looked at by `work`.
    fileprivate func blocksOfMembers(_ work: () async throws -> Void) async throws -> Int64 {
        let before = try await blocksRead(of: ["members"])
        try await work()
        return try await blocksRead(of: ["members"]) - before
    }

    /// The versions of all rows of users, channels and members.
    fileprivate func directoryVersions() async throws -> Set<String> {
        Set(
            try await all(
                """
                SELECT 'u' || user_id || xmin::text FROM users
                UNION ALL SELECT 'c' || channel_id || xmin::text FROM channels
                UNION ALL SELECT 'm' || user_id || xmin::text FROM members
                """,
                as: String.self
            )
        )
    }
}
