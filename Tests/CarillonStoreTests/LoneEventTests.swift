import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What an event costs that nobody shares a batch with, which is what most of them cost most installations.
@Suite struct LoneEventTests {
    @Test(arguments: [false, true])
    func `an event of people who are known takes nine statements in four round trips`(saysNames: Bool) async throws {
        let proxy = try await TestDatabase.proxy()
        defer { proxy.close() }
        try await StoreScene.withStores(oneConnection(through: proxy)) { scene, pool in
            let expander = Expander(catalog: try .english(), ids: scene.ids)
            _ = try await scene.inbox.accept([scene.incoming(event(.channelCreated, "created", saysNames: true))])
            @Sendable func send(_ id: String) async throws {
                let incoming = scene.incoming(event(.messageSent, id, saysNames: saysNames), leased: true)
                let acceptances = try await scene.inbox.accept([incoming], lockWait: .seconds(1))
                guard case .accepted(_, let mark)? = acceptances.first else { throw UnexpectedAnswer() }
                let query = RecipientQuery(
                    networkID: incoming.networkID,
                    eventID: incoming.id,
                    mark: mark,
                    event: incoming.event
                )
                let page = try await scene.recipients.page(for: query)
                #expect(page.recipients.map(\.userID) == ["a", "b"])
                let pending = PendingEvent(
                    networkID: incoming.networkID,
                    id: incoming.id,
                    receivedAt: incoming.receivedAt,
                    mark: mark,
                    event: incoming.event,
                    leaseToken: 1
                )
                let expansion = expander.expand(pending, page)
                #expect(try await scene.queue.enqueue([expansion]) == [true])
            }
            for number in 0..<3 { try await send("before-\(number)") }
            let (requests, statements) = (proxy.requests, proxy.statements)
            try await send("counted")
            #expect(proxy.requests - requests == 4)
            #expect(proxy.statements - statements == 9)
            #expect(try await pool.first("SELECT count(*) FROM events", as: Int.self) == 4)
            #expect(try await pool.first("SELECT count(*) FROM inbox WHERE leased", as: Int.self) == 0)
        }
    }

    @Test func `what is known but has a new name is written, and what is not known is added`() async throws {
        try await StoreScene.withStores { scene, pool in
            _ = try await scene.inbox.accept([scene.incoming(event(.channelCreated, "created", saysNames: true))])
            var message = event(.messageSent, "renamed", saysNames: true)
            message.actor?.displayName = "Anna"
            message.channel?.displayName = "Everybody"
            message.members.append(Person(id: "c", displayName: "Carl"))
            _ = try await scene.inbox.accept([scene.incoming(message)])
            let names = try await pool.all("SELECT display_name FROM users ORDER BY user_id", as: String.self)
            #expect(names == ["Anna", "b", "Carl"])
            #expect(try await pool.first("SELECT display_name FROM channels", as: String.self) == "Everybody")
            #expect(
                try await scene.directory.members(of: "c", in: scene.network, after: nil, limit: 9) == ["a", "b", "c"]
            )
        }
    }

    @Test func `who is removed between the look and the write stays so, until they are heard of again`() async throws {
        try await StoreScene.withStores { scene, pool in
            _ = try await scene.inbox.accept([scene.incoming(event(.channelCreated, "created", saysNames: true))])
            // What writes the event waits for this, and what looked before it does not.
            let held = await pool.hold("LOCK TABLE inbox IN SHARE ROW EXCLUSIVE MODE")
            let message = event(.messageSent, "message", saysNames: false, at: WallClock.system.now() + .seconds(30))
            let incoming = scene.incoming(message)
            async let accepted = scene.inbox.accept([incoming], lockWait: .seconds(60))
            let isWaiting: SQL = """
                SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'inbox'::regclass AND NOT granted)
                """
            while try await pool.first(isWaiting, as: Bool.self) != true { try await Task.sleep(for: .milliseconds(5)) }
            #expect(try await scene.directory.deleteUser("b", in: scene.network))
            #expect(try await scene.directory.deleteChannel("c", in: scene.network))
            try await held.release()
            #expect(try await accepted.count == 1)
            let deleted = try await pool.all("SELECT deleted FROM users ORDER BY user_id", as: Bool.self)
            #expect(deleted == [false, true])
            #expect(try await pool.first("SELECT deleted FROM channels", as: Bool.self) == true)
            let later = event(.messageSent, "later", saysNames: true, at: WallClock.system.now() + .seconds(60))
            _ = try await scene.inbox.accept([scene.incoming(later)])
            #expect(try await scene.directory.members(of: "c", in: scene.network, after: nil, limit: 9) == ["a", "b"])
        }
    }

    private func event(
        _ type: EventType,
        _ id: String,
        saysNames: Bool,
        at timestamp: Timestamp = .seconds(1)
    ) -> Event {
        let people = ["a", "b"].map { name in
            Person(id: UserID(trusted: name), displayName: saysNames ? name : nil, roles: saysNames ? ["member"] : nil)
        }
        return Event(
            sourceID: id,
            type: type,
            timestamp: timestamp,
            channel: Channel(id: "c", displayName: saysNames ? "All" : nil),
            actor: people[0],
            members: type == .channelCreated ? people : [people[1]],
            message: type == .messageSent ? Message(kind: .text, text: "Hello") : nil
        )
    }
}
