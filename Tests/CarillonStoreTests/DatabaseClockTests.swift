import CarillonCore
import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

@Suite struct DatabaseClockTests {
    private static let minute = Duration.seconds(60)
    private static let minuteBack = Duration.seconds(-60)

    @Test(arguments: [minuteBack, .zero, minute])
    func `shows this machine's time until it has looked, and then the database's`(offset: Duration) async throws {
        try await TestDatabase.withPool { pool in
            let local = WallClock { WallClock.system.now() + offset }
            let clock = DatabaseClock(local: local)
            #expect(abs((clock.now() - local.now()) / .seconds(1)) < 10)
            let skew = try await clock.look(pool)
            #expect(abs(skew.milliseconds + offset.wholeMilliseconds) <= skew.uncertainty + 500)
            #expect(skew.isTooLarge == (offset != .zero))
            let earliest = try await databaseTime(pool)
            let shown = clock.now()
            let latest = try await databaseTime(pool)
            // By no more than the look may have been wrong by.
            let uncertainty = Duration.milliseconds(skew.uncertainty + 2)
            #expect(shown >= earliest - uncertainty && shown <= latest + uncertainty)
        }
    }

    @Test func `goes on by itself where this machine's clock is set`() async throws {
        try await TestDatabase.withPool { pool in
            let offset = Mutex(Duration.zero)
            let clock = DatabaseClock(local: WallClock { WallClock.system.now() + offset.withLock { $0 } })
            try await clock.look(pool)
            let before = clock.now()
            offset.withLock { $0 = Self.minuteBack }
            #expect(clock.now() >= before)
        }
    }

    @Test func `a look moves it only as far as it was surely wrong`() {
        let clock = DatabaseClock()
        let start = ContinuousClock.now - .seconds(100)
        func show(_ milliseconds: Int64, at second: Int, took: Duration) {
            let begin = start + .seconds(second)
            clock.correct(between: begin, and: begin + took, showing: Timestamp(milliseconds: milliseconds))
        }
        func shown() -> Int64 { (clock.now() - (ContinuousClock.now - start)).milliseconds }
        func isShown(_ expected: Int64) -> Bool { (expected - 1...expected + 1).contains(shown()) }
        show(10_000, at: 10, took: .zero)
        #expect(isShown(0))
        // Anything between 601 ms behind and 400 ms ahead.
        show(20_400, at: 20, took: .seconds(1))
        #expect(isShown(0))
        // At least 499 ms behind.
        show(29_500, at: 30, took: .seconds(1))
        #expect(isShown(-499))
        // At least 300 ms ahead.
        show(40_300, at: 40, took: .zero)
        #expect(isShown(300))
    }

    /// The replica is not ready, but what reaches it all the same is no older than what others wrote.
    @Test(arguments: [minuteBack, minute])
    func `a joining without a time holds on a replica whose clock is off`(offset: Duration) async throws {
        try await StoreScene.withStores { scene, pool in
            let local = WallClock { WallClock.system.now() + offset }
            let clock = DatabaseClock(local: local)
            try await clock.look(pool)
            _ = try await scene.directory.addMember("bob", to: "room", in: scene.network)
            _ = try await scene.directory.deleteUser("bob", in: scene.network)
            try await scene.directory.replaceMembers(of: "room", with: ["alice"], in: scene.network)
            // The database's time is cut to milliseconds.
            try await Task.sleep(for: .milliseconds(10))
            let body = #"{"id":"1","type":"member.joined","data":{"channel":{"id":"room"},"members":[{"id":"bob"}]}}"#
            let parser = EventParser(clock: clock.wallClock)
            guard case .single(let parsed) = try parser.parse(body: Array(body.utf8), fallbackSourceID: nil),
                case .known(let event) = parsed.content
            else {
                Issue.record("no event that is known")
                return
            }
            _ = try await scene.inbox.accept([scene.incoming(event)])
            let members = try await scene.directory.members(of: "room", in: scene.network, after: nil, limit: 9)
            #expect(members == ["alice", "bob"])
            // What happens after it counts, too.
            #expect(try await scene.directory.removeMember("bob", from: "room", in: scene.network))
        }
    }

    private func databaseTime(_ pool: PostgresPool) async throws -> Timestamp {
        try await pool.queryFirst("SELECT clock_timestamp()") { row in try row.timestamp(0) } ?? .epoch
    }
}

@Suite struct ClockSkewTests {
    private func skew(ahead: Int64, roundTrip: Int64 = 0) -> ClockSkew {
        let before = Timestamp(milliseconds: 1_000_000)
        let after = before + .milliseconds(roundTrip)
        let middle = before + .milliseconds(roundTrip / 2)
        return ClockSkew(before: before, database: middle + .milliseconds(ahead), after: after)
    }

    @Test func `half of the round trip is taken off`() {
        #expect(skew(ahead: 0, roundTrip: 400).milliseconds == 0)
        #expect(skew(ahead: -70, roundTrip: 400).milliseconds == -70)
    }

    @Test(arguments: [(500, 0, false), (501, 0, true), (-501, 0, true), (600, 300, false), (700, 300, true)])
    func `what is surely more than half a second is too large`(ahead: Int64, roundTrip: Int64, isTooLarge: Bool) {
        #expect(skew(ahead: ahead, roundTrip: roundTrip).isTooLarge == isTooLarge)
    }

    @Test func `says which clock is ahead`() {
        #expect(skew(ahead: 700).description == "this machine's clock is 700 ms behind PostgreSQL's")
        #expect(skew(ahead: -800).description == "this machine's clock is 800 ms ahead of PostgreSQL's")
    }
}
