package import CarillonCore
package import Postgres
import Synchronization

/// A database whose time a test decides: what stores call `now()` stands still until it is moved.
///
/// Tests have it one after the other, emptied in between, which takes less than making one.
package struct TimedDatabase: Sendable {
    package let pool: PostgresPool
    /// All stores in it, without any network.
    package let stores: StoreScene
    package let time: ManualTime
    private let traffic: Traffic

    package var calls: Int { traffic.state.withLock(\.calls) }

    package func advance(by duration: Duration) async throws {
        time.advance(by: duration)
        let now = time.clock.now().description
        try await pool.execute("UPDATE timed.present SET moment = \(now)::timestamptz")
    }

    /// Lets nothing come of what it is asked from now on, as if the time for that were over; or no more.
    package func answers(_ isAnswering: Bool) { traffic.state.withLock { $0.isAnswering = isAnswering } }

    /// Changes its tables, after which no other test has it.
    package func alter(_ script: SQL) async throws {
        traffic.state.withLock { $0.isAltered = true }
        try await pool.script(script)
    }

    /// Lends one that is empty, and whose time begins at `start`.
    package static func lend<Value>(
        from start: Timestamp,
        _ body: (TimedDatabase) async throws -> Value
    ) async throws -> Value {
        let used = free.withLock { $0.popLast() }
        let name = if let used { used } else { try await TestDatabase.create(from: template.value) }
        var configuration = try await TestDatabase.configuration(of: name)
        let traffic = Traffic()
        let usual = configuration.deadline
        configuration.deadline = { traffic.deadline(usual?()) }
        // What is in the first schema is found before what PostgreSQL itself calls so.
        configuration.sessionSettings["search_path"] = "timed,pg_catalog,public"
        let value = try await TestDatabase.withPool(configuration) { pool in
            try await pool.execute("SELECT timed.clear(\(start.description)::timestamptz)")
            let time = ManualTime(start)
            // What waits for time to pass would wait in vain.
            let ids = UUIDv7Generator(clock: time.clock)
            let stores = try StoreScene(pool: pool, ids: ids, patience: .milliseconds(200))
            return try await body(TimedDatabase(pool: pool, stores: stores, time: time, traffic: traffic))
        }
        if !traffic.state.withLock(\.isAltered) { free.withLock { $0.append(name) } }
        return value
    }

    private static let free = Mutex<[String]>([])
    private static let template = Task<String, any Error> {
        let configuration = try await TestDatabase.make()
        try await TestDatabase.withPool(configuration) { pool in try await pool.script(schema) }
        return configuration.database ?? ""
    }
    private static let schema: SQL = """
        CREATE SCHEMA timed;
        CREATE TABLE timed.present (moment timestamptz NOT NULL);
        INSERT INTO timed.present VALUES (now());
        CREATE FUNCTION timed.now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT moment FROM timed.present';
        CREATE TABLE timed.emptied (name regclass NOT NULL);
        DO $$
        DECLARE
            one record;
            is_used boolean;
        BEGIN
            FOR one IN
                SELECT d.adrelid::regclass AS name, a.attname AS field
                FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
                WHERE pg_get_expr(d.adbin, d.adrelid) = 'now()'
            LOOP
                EXECUTE format('ALTER TABLE %s ALTER %I SET DEFAULT timed.now()', one.name, one.field);
            END LOOP;
            FOR one IN
                SELECT oid::regclass AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
            LOOP
                EXECUTE format('SELECT EXISTS (SELECT FROM %s)', one.name) INTO is_used;
                IF NOT is_used THEN INSERT INTO timed.emptied VALUES (one.name); END IF;
            END LOOP;
        END $$;
        CREATE FUNCTION timed.clear(start timestamptz) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            used regclass;
        BEGIN
            SET LOCAL session_replication_role = replica;
            FOR used IN SELECT name FROM timed.emptied LOOP
                EXECUTE format('DELETE FROM %s', used);
            END LOOP;
            UPDATE timed.present SET moment = start;
        END $$;
        """
}

private final class Traffic: Sendable {
    struct State {
        var calls = 0
        var isAnswering = true
        var isAltered = false
    }

    let state = Mutex(State())

    /// Notes a call; answers by when it has to be answered.
    func deadline(_ usual: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
        state.withLock { state in
            state.calls += 1
            return state.isAnswering ? usual : .now
        }
    }
}
