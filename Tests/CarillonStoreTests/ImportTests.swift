import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

/// What imports do to others on the way into PostgreSQL.
@Suite(.stores) struct ImportTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `an import is applied in transactions of at most a thousand lines, and then analysed`() async throws {
        try await scene.apply(records(6_000))
        let sizes = try await pool.all("SELECT count(*) FROM members GROUP BY xmin::text", as: Int.self)
        #expect(sizes.reduce(0, +) == 6_000)
        #expect(sizes.allSatisfy { $0 <= 1_000 })
        for table in ["users", "members"] {
            let known = try await pool.first(
                "SELECT reltuples::int FROM pg_class WHERE relname = \(table)",
                as: Int32.self
            )
            #expect(known == 6_000)
        }
    }

    @Test func `an import that has to wait for a row lets events about the same people go first`() async throws {
        let everybody = records(3_000)
        try await scene.apply(everybody)
        let began = AsyncStream<Void>.makeStream()
        let mayEnd = DispatchSemaphore(value: 0)
        async let holder: Void = pool.withTransaction { session in
            try session.execute("SELECT FROM users WHERE user_id = 'u500' FOR UPDATE")
            began.continuation.yield()
            mayEnd.wait()
        }
        for await _ in began.stream.prefix(1) {}
        let described = (0..<3_000).map { ImportRecord.user(Person(id: user($0), displayName: "Imported")) }
        async let imported: Void = scene.apply(described)
        // The import gets no further than the row that is held; that it has begun shows in what waits for it.
        while try await !pool.isAnybodyWaiting() { try await Task.sleep(for: .milliseconds(5)) }
        for number in 0..<20 {
            let person = Person(id: user(number), displayName: "Event")
            let event = Event(sourceID: "e\(number)", type: .userUpdated, timestamp: .now, actor: person)
            _ = try await scene.inbox.accept([scene.incoming(event)])
        }
        mayEnd.signal()
        try await holder
        try await imported
        #expect(try await scene.directory.user("u2999", in: scene.network)?.displayName == "Imported")
        #expect(try await scene.directory.user("u500", in: scene.network)?.displayName == "Imported")
    }

    @Test func `imports and events about the same people and channels at once do not fail`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for turn in 0..<2 {
                let mixed = (0..<2_000).map { number -> ImportRecord in
                    switch (number + turn) % 4 {
                    case 0: .user(Person(id: user(number % 300), displayName: "Imported"))
                    case 1: .member("c\(number % 7)", user(number % 300))
                    case 2: .channel(Channel(id: "c\(number % 7)", displayName: "C"))
                    default: .device(device(number % 300, token: (number + turn) % 50))
                    }
                }
                group.addTask { try await scene.apply(mixed) }
            }
            for writer in 0..<2 {
                group.addTask {
                    for number in 0..<150 {
                        let event = Event(
                            sourceID: "e\(writer)-\(number)",
                            type: .memberJoined,
                            timestamp: .now,
                            channel: Channel(id: "c\(number % 7)", displayName: "Event"),
                            actor: Person(id: user((number * 7) % 300), displayName: "Event"),
                            members: (0..<5).map { Person(id: user((number * $0) % 300)) }
                        )
                        _ = try await scene.inbox.accept([scene.incoming(event)])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func user(_ number: Int) -> UserID { UserID(trusted: "u\(number)") }

    private func device(_ number: Int, token: Int) -> Device {
        Device("d\(number)", of: user(number), .fcm(token: "t\(token)", appID: "app"))
    }

    private func records(_ count: Int) -> [ImportRecord] { (0..<count).map { .member("c", user($0)) } }
}

extension StoreScene {
    fileprivate func apply(_ records: [ImportRecord]) async throws {
        let rest = Mutex<[ImportRecord]?>(records)
        try await directory.apply({ rest.withLock { $0.take() } }, in: network)
    }
}
