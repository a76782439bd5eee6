import Foundation
import Postgres
import Synchronization

/// Events that are accepted, expanded, sent and settled, and devices that are registered, by statements like those of releases
/// since the sixteenth migration: none of it waits for a lock longer than a second.
final class FormerLoad: Sendable {
    private static let options = TransactionOptions(retries: 3, lockTimeout: .seconds(1))

    private let pool: PostgresPool
    private let state = Mutex((isOver: false, events: 0))

    init(pool: PostgresPool) { self.pool = pool }

    /// How many events went all the way.
    var events: Int { state.withLock(\.events) }

    func end() { state.withLock { $0.isOver = true } }

    /// Works until the end, as one of several.
    func work(as worker: Int) async throws {
        var number = 0
        while !state.withLock(\.isOver) {
            let event = UUID()
            let names = (user: "worker-\(worker)-\(number % 50)", channel: "channel-\(worker)-\(number % 20)")
            try await accept(event, from: names.user, in: names.channel)
            try await register("device-\(worker)-\(number % 50)", of: names.user)
            try await expand(event, in: names.channel)
            try await settle(event)
            state.withLock { $0.events += 1 }
            number += 1
        }
    }

    private func accept(_ event: UUID, from user: String, in channel: String) async throws {
        try await pool.withTransaction(Self.options) { session in
            _ = try session.commit(after: [
                """
                INSERT INTO event_keys (network_id, source_id, event_id, received_at)
                VALUES ('acme', \(event.uuidString), \(event), now())
                """,
                """
                INSERT INTO inbox (network_id, event_id, source_id, event_type, received_at, occurred_at, body, run_at, leased,
                                   mark)
                VALUES ('acme', \(event), \(event.uuidString), 'message.sent', now(), now(), '{}', now(), true, next_mark())
                """,
                """
                INSERT INTO users AS u (network_id, user_id, display_name, facts_at) VALUES ('acme', \(user), 'Somebody', now())
                ON CONFLICT (network_id, user_id) DO UPDATE SET facts_at = EXCLUDED.facts_at, unswept = u.unswept
                """,
                """
                INSERT INTO channels (network_id, channel_id, display_name, facts_at) VALUES ('acme', \(channel), 'Place', now())
                ON CONFLICT (network_id, channel_id) DO UPDATE SET facts_at = EXCLUDED.facts_at
                """,
                """
                INSERT INTO members (network_id, channel_id, user_id, is_member, facts_at)
                VALUES ('acme', \(channel), \(user), true, now()) ON CONFLICT (network_id, channel_id, user_id) DO NOTHING
                """,
            ])
        }
    }

    private func register(_ device: String, of user: String) async throws {
        try await pool.withTransaction(Self.options) { session in
            try session.execute(
                """
                INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, address_hash, registered_at)
                VALUES ('acme', \(device), \(user), 'fcm', 'app', \(device), sha256(\(device)::text::bytea), now())
                ON CONFLICT (network_id, device_id) DO UPDATE SET registered_at = EXCLUDED.registered_at
                """
            )
        }
    }

    private func expand(_ event: UUID, in channel: String) async throws {
        try await pool.withTransaction(Self.options) { session in
            let devices = try session.query(
                """
                SELECT d.device_id FROM members m
                JOIN devices d ON d.network_id = m.network_id AND d.user_id = m.user_id
                WHERE m.network_id = 'acme' AND m.channel_id = \(channel) AND d.state = 'active' LIMIT 500
                """
            ) { row in try row.decode(0, as: String.self) }
            _ = try session.commit(after: [
                "DELETE FROM inbox WHERE network_id = 'acme' AND event_id = \(event)",
                """
                INSERT INTO events (network_id, event_id, source_id, event_type, received_at)
                VALUES ('acme', \(event), \(event.uuidString), 'message.sent', now())
                """,
                """
                INSERT INTO deliveries (network_id, group_id, event_id, provider, app_id, cause, locale, title, body, targets, size,
                                        attempt, run_at, expires_at, leased)
                VALUES ('acme', \(event), \(event), 'fcm', 'app', '{}', 'en', '', '', '[]', \(devices.count), 0, now(),
                        now() + interval '1 hour', false)
                """,
            ])
        }
    }

    private func settle(_ event: UUID) async throws {
        try await pool.withTransaction(Self.options) { session in
            _ = try session.commit(after: [
                """
                UPDATE deliveries SET leased = true, lease_token = lease_token + 1
                WHERE network_id = 'acme' AND group_id = \(event)
                """,
                """
                INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead, suppressed,
                                      records)
                VALUES ('acme', \(event), 'fcm', now(), 1, 0, 0, 0, 0, '[]')
                """,
                "DELETE FROM deliveries WHERE network_id = 'acme' AND group_id = \(event)",
            ])
        }
    }
}

extension PostgresPool {
    /// Fills the tables as of a busy network.
    func fillAsFormerly() async throws {
        try await withConnection { session in
            try session.script(
                """
                SET statement_timeout = 0;
                CREATE TABLE events_some PARTITION OF events
                    FOR VALUES FROM ('40000000-0000-0000-0000-000000000000') TO ('80000000-0000-0000-0000-000000000000');
                CREATE TABLE outcomes_some PARTITION OF outcomes
                    FOR VALUES FROM ('40000000-0000-0000-0000-000000000000') TO ('80000000-0000-0000-0000-000000000000');
                INSERT INTO users (network_id, user_id, display_name, facts_at)
                SELECT 'acme', 'u' || n, 'Name ' || n, now() FROM generate_series(1, 50000) n;
                INSERT INTO channels (network_id, channel_id, display_name, facts_at)
                SELECT 'acme', 'c' || n, 'Place ' || n, now() FROM generate_series(1, 20000) n;
                INSERT INTO members (network_id, channel_id, user_id, is_member, facts_at, since_event)
                SELECT 'acme', 'c' || n % 20000, 'u' || n % 50000, true, now(), gen_random_uuid()
                FROM generate_series(1, 100000) n;
                INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, address_hash, registered_at)
                SELECT 'acme', 'd' || n, CASE WHEN n % 2 = 0 THEN '' ELSE 'u' || n % 50000 END, 'fcm', 'app', 'a' || n,
                       sha256(n::text::bytea), now()
                FROM generate_series(1, 100000) n;
                INSERT INTO events (network_id, event_id, source_id, event_type, received_at)
                SELECT 'acme', gen_random_uuid(), n, 'message.sent', now() FROM generate_series(1, 50000) n;
                INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead, suppressed, records)
                SELECT 'acme', event_id, 'fcm', now(), 1, 0, 0, 0, 0, '[]' FROM events;
                INSERT INTO deliveries (network_id, group_id, event_id, provider, app_id, cause, locale, title, body, targets, size,
                                        attempt, run_at, expires_at, leased)
                SELECT 'acme', event_id, event_id, 'fcm', 'app', '{}', 'en', '', '', '[]', 1, 0, now(), now() + interval '1 day',
                       false
                FROM events LIMIT 20000;
                RESET statement_timeout
                """
            )
        }
    }
}
