import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What the stores' callers are told when an answer of the database is lost or late (API section 1).
@Suite(.stores) struct LostAnswerTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    /// Why a network could not be made in this time.
    private func failure(within limit: Duration) async -> PostgresError? {
        await #expect(throws: PostgresError.self) {
            try await UnitOfWork.run(within: limit) {
                try await scene.accounts.createNetwork(.sample("new", name: "New"), answering: nil)
            }
        }
    }

    @Test
    func `a commit in which the server ends the session has an unknown outcome, and is not tried again`() async throws {
        try await Self.onCommit(of: "networks", "PERFORM pg_terminate_backend(pg_backend_pid())", pool)
        let error = await failure(within: .seconds(60))
        #expect(error?.isOutcomeUnknown == true)
        #expect(error?.isTransient == true)
    }

    @Test func `a commit that takes too long ends at the deadline, and nobody knows how`() async throws {
        try await Self.onCommit(of: "networks", "PERFORM pg_sleep(18)", pool)
        let start = ContinuousClock.now
        let error = await failure(within: .seconds(1))
        #expect(ContinuousClock.now - start < .seconds(15), "the server does not end a commit by itself")
        #expect(error?.isOutcomeUnknown == true)
        #expect(error?.isTransient == true)
    }

    @Test func `what was made by a commit that nobody heard of is shown when it is asked for again`() async throws {
        try await Self.onCommit(of: "networks", "PERFORM pg_sleep(4)", pool)
        let request = IdempotentRequest(networkID: nil, keyHash: [1], bodyHash: [0], answer: [7])
        await #expect(throws: PostgresError.self) {
            try await UnitOfWork.run(within: .seconds(1)) {
                try await scene.accounts.createNetwork(.sample("new", name: "New"), answering: request)
            }
        }
        // The answer of this one would be another.
        let again = IdempotentRequest(networkID: nil, keyHash: [1], bodyHash: [0], answer: [8])
        let creation = try await scene.accounts.createNetwork(.sample("new", name: "New"), answering: again)
        #expect(creation == .repeated(answer: [7]))
    }

    @Test func `a statement that takes too long ends at the deadline, and nothing was written`() async throws {
        try await Self.onCommit(of: "networks", "PERFORM pg_sleep(60)", pool, when: "NOT DEFERRABLE")
        let start = ContinuousClock.now
        let error = await failure(within: .seconds(1))
        #expect(ContinuousClock.now - start < .seconds(10), "the statement timeout is 15 s")
        #expect(error?.isOutcomeUnknown == false)
        #expect(error?.isTransient == true)
        #expect(try await scene.accounts.network("new") == nil)
    }

    @Test func `work that fails after a part of it was written has an unknown outcome`() async throws {
        await #expect(throws: OutcomeUnknown.self) {
            try await UnitOfWork.run(within: .seconds(60)) {
                #expect(try await scene.accounts.createNetwork(.sample("new", name: "New"), answering: nil) == .created)
                throw DeadlineExceeded()
            }
        }
        await #expect(throws: DeadlineExceeded.self, "reading is no writing") {
            try await UnitOfWork.run(within: .seconds(60)) {
                _ = try await scene.accounts.credentials(of: "new")
                _ = try await scene.accounts.networks(after: nil, limit: 10)
                throw DeadlineExceeded()
            }
        }
    }

    @Test func `answers to requests are forgotten after a day`() async throws {
        let requests = (0..<2).map { number in
            IdempotentRequest(networkID: scene.network, keyHash: [number], bodyHash: [0], answer: [number])
        }
        for request in requests {
            let creation = try await scene.accounts.rotateWebhookSecret(
                .incoming,
                of: scene.network,
                to: .generate(),
                overlap: .zero,
                answering: request
            )
            #expect(creation == .created)
        }
        try await pool.execute(
            """
            UPDATE idempotency_keys SET created_at = now() - interval '25 hours'
            WHERE key_hash = \(requests[0].keyHash)
            """
        )
        try await pool.housekeeper().sweep()
        let left = try await pool.all("SELECT key_hash FROM idempotency_keys", as: [UInt8].self)
        #expect(left == [requests[1].keyHash])
    }

    /// Has every commit that writes to a table, or every statement, run something first.
    private static func onCommit(
        of table: String,
        _ action: String,
        _ pool: PostgresPool,
        when moment: String = "DEFERRABLE INITIALLY DEFERRED"
    ) async throws {
        try await pool.script(
            SQL(
                trusted: """
                    CREATE FUNCTION on_commit() RETURNS trigger LANGUAGE plpgsql AS $$
                        BEGIN \(action); RETURN new; END $$;
                    CREATE CONSTRAINT TRIGGER on_commit AFTER INSERT ON \(table) \(moment)
                        FOR EACH ROW EXECUTE FUNCTION on_commit()
                    """
            )
        )
    }
}
