import CarillonCore
import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

/// What fails is left alone for a while, and keeps nothing else from being done.
@Suite struct ChoresTests {
    private struct Failed: Error {}

    /// A clock that stands still until it is told otherwise.
    private final class Hands: Sendable {
        private let passed = Mutex(Duration.zero)

        var clock: WallClock { WallClock { [self] in Timestamp(milliseconds: 0) + passed.withLock(\.self) } }

        func advance(by duration: Duration) { passed.withLock { $0 += duration } }
    }

    private let hands = Hands()

    @Test func `what failed is tried after a minute, and then after twice as long each time, up to half an hour`() async
    {
        let chores = Chores(clock: hands.clock)
        var pauses: [Int] = []
        var seconds = 0
        while pauses.count < 8 {
            if await chores.attempt("task", { throw Failed() }) != nil {
                pauses.append(seconds)
                seconds = 0
            }
            hands.advance(by: .seconds(1))
            seconds += 1
        }
        #expect(pauses == [0, 60, 120, 240, 480, 960, 1_800, 1_800])
    }

    @Test func `another piece is done meanwhile, and success forgets all failures`() async {
        let chores = Chores(clock: hands.clock)
        var done: [String] = []
        for _ in 0..<2 {
            for name in ["bad", "good"] {
                _ = await chores.attempt(name) {
                    done.append(name)
                    if name == "bad" { throw Failed() }
                }
            }
        }
        #expect(done == ["bad", "good", "good"])
        hands.advance(by: .seconds(60))
        #expect(await chores.attempt("bad") {} == nil)
        #expect(await chores.attempt("bad") { throw Failed() } != nil)
        hands.advance(by: .seconds(60))
        #expect(await chores.attempt("bad") { throw Failed() } != nil, "it counts from the beginning again")
    }

    @Test(
        arguments: [
            PostgresError(.connectionFailed), PostgresError(.timedOut), PostgresError(.shuttingDown),
            PostgresError(.cancelled),
            CancellationError(),
        ] as [any Error]
    )
    func `what cannot be reached is tried as soon as it is asked for again`(error: any Error) async {
        let chores = Chores(clock: Hands().clock)
        for _ in 0..<3 { #expect(await chores.attempt("task") { throw error } != nil) }
    }

    @Test func `housekeeping does not repeat with its locks what fails, and does the rest each time`() async throws {
        try await StoreScene.withStores { scene, pool in
            let start = WallClock.system.now()
            let clock = WallClock { start + (hands.clock.now() - Timestamp(milliseconds: 0)) }
            let housekeeper = pool.housekeeper(clock)
            try await pool.script(
                """
                CREATE SEQUENCE tries;
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN PERFORM nextval('tries'); RAISE EXCEPTION 'no'; END $$;
                CREATE TRIGGER fail BEFORE DELETE ON dead_letters FOR EACH STATEMENT EXECUTE FUNCTION fail();
                """
            )
            var failed: [Bool] = []
            for _ in 0..<5 {
                try await pool.execute("INSERT INTO used_nonces VALUES ('acme', '\\x01', now() - interval '1 second')")
                do {
                    try await housekeeper.sweep()
                    failed.append(false)
                } catch let error as UntidyError {
                    #expect(error.failures.map(\.task) == ["dead_letters"])
                    failed.append(true)
                }
                #expect(try await pool.count("used_nonces") == 0)
                hands.advance(by: .seconds(61))
            }
            #expect(failed == [true, true, false, true, false])
            let tries = try await pool.first("SELECT last_value FROM tries", as: Int64.self)
            #expect(tries == 3)
        }
    }

    @Test func `a removal that cannot be swept keeps no other from being swept`() async throws {
        try await StoreScene.withStores { scene, pool in
            for network in [scene.network, scene.otherNetwork] {
                _ = try await scene.directory.addMember("a", to: "c", in: network)
            }
            try await pool.script(
                """
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
                CREATE TRIGGER fail BEFORE DELETE OR UPDATE ON members FOR EACH ROW WHEN (OLD.network_id = 'acme')
                    EXECUTE FUNCTION fail();
                """
            )
            for network in [scene.network, scene.otherNetwork] {
                #expect(try await scene.directory.deleteChannel("c", in: network))
            }
            await #expect(throws: PostgresError.self) { try await RemovalSweep(pool: pool).sweep() }
            let left = try await pool.all("SELECT network_id FROM members", as: String.self)
            #expect(left == ["acme"])
        }
    }
}
