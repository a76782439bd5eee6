import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite(Lending { try await TimedDatabase.lend(from: TestAPI.now, $0) }) struct CredentialCacheTests {
    private static let acme = NetworkID(trusted: "acme")

    private let announcements = Announcements()
    private let time = ManualTime(.seconds(0))
    private let store: Counted
    private let cache: CredentialCache

    init() async throws {
        let database: TimedDatabase = lent()
        let network = Network(id: Self.acme, createdAt: TestAPI.now)
        try await database.stores.accounts.createNetwork(network)
        store = Counted(database: database, before: database.calls)
        cache = Self.cache(database, announcements, time)
    }

    private static func cache(
        _ database: TimedDatabase,
        _ announcements: Announcements,
        _ time: ManualTime,
        capacity: Int = 100
    ) -> CredentialCache {
        CredentialCache(
            accounts: database.stores.accounts,
            announcements: announcements,
            capacity: capacity,
            logger: .silent,
            now: time.monotonic
        )
    }

    /// A database, and how often it was asked since the test began.
    private struct Counted {
        let database: TimedDatabase
        let before: Int
        var accounts: any NetworkStore { database.stores.accounts }
        var calls: Int { database.calls - before }
    }

    @Test func `credentials are read anew after two seconds`() async throws {
        for _ in 0..<3 { _ = try await cache.credentials(of: Self.acme) }
        #expect(store.calls == 1)
        time.advance(by: .seconds(2))
        #expect(try await cache.credentials(of: Self.acme)?.network.id == Self.acme)
        #expect(store.calls == 2)
    }

    @Test func `requests at the same time share a reading`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await cache.credentials(of: Self.acme) } }
            try await group.waitForAll()
        }
        #expect(store.calls == 1)
    }

    @Test func `an unknown network is remembered too`() async throws {
        for _ in 0..<3 {
            let credentials = try await cache.credentials(of: "nobody")
            #expect(credentials == nil)
        }
        #expect(store.calls == 1)
    }

    @Test func `what was invalidated is read anew`() async throws {
        _ = try await cache.credentials(of: Self.acme)
        _ = try await store.accounts.deleteNetwork(Self.acme)
        cache.invalidate(Self.acme)
        #expect(try await cache.credentials(of: Self.acme) == nil)
    }

    @Test func `an error goes on to the caller, and is not remembered`() async throws {
        _ = try await cache.credentials(of: Self.acme)
        store.database.answers(false)
        #expect(try await cache.credentials(of: Self.acme) != nil)
        time.advance(by: .seconds(2))
        await #expect(throws: PostgresError.self) { try await cache.credentials(of: Self.acme) }
        store.database.answers(true)
        #expect(try await cache.credentials(of: Self.acme) != nil)
    }

    @Test func `it stays within its capacity`() async throws {
        let cache = Self.cache(store.database, announcements, time, capacity: 10)
        for number in 0..<100 { _ = try await cache.credentials(of: "\(number)") }
        #expect(cache.count <= 10)
        #expect(store.calls == 100)
    }

    @Test func `what another replica has changed is read anew`() async throws {
        _ = try await cache.credentials(of: Self.acme)
        _ = try await store.accounts.deleteNetwork(Self.acme)
        announcements.deliver(.some([Announcement(.network, in: "other"), Announcement(.lanes, in: Self.acme)]))
        #expect(try await cache.credentials(of: Self.acme) != nil)
        announcements.deliver(.some([Announcement(.network, in: Self.acme)]))
        #expect(try await cache.credentials(of: Self.acme) == nil)
    }

    @Test func `after a gap in hearing the others everything is read anew`() async throws {
        _ = try await cache.credentials(of: Self.acme)
        announcements.deliver(.everything)
        _ = try await cache.credentials(of: Self.acme)
        #expect(store.calls == 2)
    }

    @Test func `a change made here is announced`() async throws {
        #expect(announcements.take() == nil)
        cache.invalidate(Self.acme)
        #expect(announcements.take() == .some([Announcement(.network, in: Self.acme)]))
    }

    @Test func `a key that was made elsewhere is found without any announcement`() async throws {
        _ = try await cache.credentials(of: Self.acme)
        let (secret, stored) = APIKeySecret.make(for: Self.acme, role: .events, label: nil, at: TestAPI.now)
        try await store.accounts.addAPIKey(stored)
        let known = store.calls
        #expect(try await cache.credentials(holding: secret)?.role(of: secret) == .events)
        #expect(store.calls == known + 2, "it is looked for, and then read")
        for _ in 0..<5 { _ = try await cache.credentials(holding: secret) }
        #expect(store.calls == known + 2)
    }

    @Test func `a key that does not exist is looked for once, until something is announced`() async throws {
        let (secret, stored) = APIKeySecret.make(for: Self.acme, role: .events, label: nil, at: TestAPI.now)
        for _ in 0..<10 { #expect(try await cache.credentials(holding: secret)?.role(of: secret) == nil) }
        #expect(store.calls == 1)
        try await store.accounts.addAPIKey(stored)
        announcements.deliver(.some([Announcement(.network, in: Self.acme)]))
        #expect(try await cache.credentials(holding: secret)?.role(of: secret) == .events)
    }

    @Test func `a flood of wrong keys is no flood of queries, and is remembered within limits`() async throws {
        let began = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<5_000 {
                let network = number.isMultiple(of: 2) ? Self.acme : NetworkID(trusted: "n\(number)")
                let (secret, _) = APIKeySecret.make(for: network, role: .events, label: nil, at: TestAPI.now)
                group.addTask {
                    let role = try await cache.credentials(holding: secret)?.role(of: secret)
                    #expect(role == nil)
                }
            }
            try await group.waitForAll()
        }
        // One query is under way at a time, and another one is begun 50 ms later at the earliest.
        let periods = Int((ContinuousClock.now - began) / .milliseconds(50))
        #expect(store.calls <= periods + 2)
        #expect(cache.rememberedUnknownKeys <= 100)
    }

    @Test func `a key whose name is longer than any is not looked for`() async throws {
        let text = "ck_\(String(repeating: "x", count: 5_000))_secret_\(Base64URL.encode(Array("acme".utf8)))"
        let secret = try #require(APIKeySecret(text))
        #expect(try await cache.credentials(holding: secret)?.role(of: secret) == nil)
        #expect(store.calls == 0)
    }
}
