import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// Pages of an event's devices and counts of events cost what they show, and say what reading everything would say.
@Suite(.stores) struct DeliveryPageTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `pages and counts say what reading everything says`() async throws {
        for seed in 0..<12 {
            var life = try await RandomDeliveries(seed: UInt64(seed), scene: scene)
            for _ in 0..<4 {
                try await check(life.event, users: life.users, in: scene, pool)
                _ = try await life.step()
            }
            try await check(life.event, users: life.users, in: scene, pool)
        }
    }

    @Test func `a filter lets through what it names, and what has failed comes first`() async throws {
        for seed in 0..<6 {
            var life = try await RandomDeliveries(seed: UInt64(300 + seed), scene: scene)
            for _ in 0..<2 { _ = try await life.step() }
            let all = try await answer(life.event, in: scene).devices
            let failed = all.filter { [.dead, .unregistered].contains($0.record.state) }.count
            let first = try await scene.history.deliveries(of: life.event, in: scene.network, after: nil, limit: 100)
            for item in first?.items.prefix(failed) ?? [] {
                #expect(FailedDelivery.states.contains(item.record.state))
            }
            let users = Set(all.map(\.record.userID)).sorted()
            var filters = DeliveryState.allCases.map { DeliveryFilter(states: [$0]) }
            filters += users.map { DeliveryFilter(userID: $0) }
            filters += [
                DeliveryFilter(states: [.dead, .pending]), DeliveryFilter(provider: .fcm),
                DeliveryFilter(provider: .apns),
                DeliveryFilter(states: [.delivered, .expired], provider: .fcm, userID: users.first),
            ]
            for filter in filters {
                let found = try await answer(life.event, matching: filter, in: scene).devices
                #expect(found == all.filter(filter.matches), "\(filter) seed \(seed)")
            }
        }
    }

    @Test func `who turns pages while devices are settled leaves none out, and meets the others once`() async throws {
        for seed in 0..<8 {
            var life = try await RandomDeliveries(seed: UInt64(100 + seed), scene: scene)
            _ = try await life.step()
            var met: [DeviceID: Int] = [:]
            var touched: Set<DeviceID> = []
            var cursor: DeliveryCursor?
            repeat {
                let page = try #require(
                    try await scene.history.deliveries(of: life.event, in: scene.network, after: cursor, limit: 2)
                )
                for item in page.items { met[item.record.deviceID, default: 0] += 1 }
                cursor = page.next
                if cursor != nil, touched.count < 10 { touched.formUnion(try await life.step(groups: 1)) }
            } while cursor != nil
            #expect(Set(met.keys) == life.devices, "seed \(seed)")
            for (device, count) in met where !touched.contains(device) {
                #expect(count == 1, "\(device) seed \(seed)")
            }
        }
    }

    @Test func `a page of a large event reads what it shows`() async throws {
        let event = try await scene.enqueue(to: [[try await scene.target("d", of: "u")]])
        let first = try await fill(event, pool)
        // Whatever is read but for what is left as it is cannot be understood.
        try await pool.script(
            """
            UPDATE deliveries SET targets = 'x' WHERE group_id NOT IN
                (SELECT group_id FROM deliveries ORDER BY group_id LIMIT 2);
            UPDATE outcomes SET records = 'x' WHERE number NOT BETWEEN \(sql: SQL(trusted: "\(first + 100)"))
                AND \(sql: SQL(trusted: "\(first + 102)"));
            """
        )
        let start = try await scene.history.deliveries(of: event, in: scene.network, after: nil, limit: 100)
        #expect(start?.items.count == 100)
        let cursor = DeliveryCursor.settled(row: first + 100, entry: 450, horizon: first + 199)
        let middle = try #require(
            try await scene.history.deliveries(of: event, in: scene.network, after: cursor, limit: 100)
        )
        #expect(middle.items.map(\.record.deviceID.rawValue).first == "s101-452")
        #expect(middle.items.count == 100)
        #expect(middle.next == .settled(row: first + 101, entry: 50, horizon: first + 199))
        await #expect(throws: StoreError.self) {
            try await scene.history.deliveries(of: event, in: scene.network, after: start?.next, limit: 1000)
        }
    }

    @Test func `listing events looks at no device`() async throws {
        try await pool.script(
            """
            INSERT INTO events (network_id, event_id, source_id, event_type, received_at, resolved, notified)
                SELECT 'acme', gen_random_uuid(), 'e' || n, 'message.sent', now(), 9, 9
                FROM generate_series(1, 1000) n;
            INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead,
                                  suppressed, stopped_network, stopped_user, stopped_channel, records)
                SELECT network_id, event_id, 'log', now(), 3, 1, 1, 1, 6, 0, 1, 1, 'x' FROM events;
            INSERT INTO stopped_users (network_id, event_id, user_id, first_device, level, stopped, devices)
                SELECT network_id, event_id, 'all', 'd1', 'channel', 2, 2 FROM events
                UNION ALL
                SELECT network_id, event_id, 'some', 'd3', 'network', 2, 3 FROM events;
            """
        )
        let events = try await scene.history.events(in: scene.network, before: nil, limit: 1000)
        #expect(events.count == 1000)
        for event in events {
            #expect(event.deliveries == [.pending: 0, .delivered: 3, .unregistered: 1, .expired: 3, .dead: 1])
            #expect(event.recipients.notified == 6)
            #expect(event.recipients.suppressed == [.network: 0, .user: 1, .channel: 2])
        }
    }

    @Test func `what a former release wrote is answered all the same`() async throws {
        for seed in 0..<4 {
            var life = try await RandomDeliveries(seed: UInt64(200 + seed), scene: scene)
            for _ in 0..<3 { _ = try await life.step() }
            let now = try await answer(life.event, in: scene)
            try await pool.script(
                """
                UPDATE outcomes SET stopped_network = NULL, stopped_user = NULL, stopped_channel = NULL, revived = NULL;
                DELETE FROM stopped_users;
                """
            )
            let former = try await answer(life.event, in: scene)
            #expect(former.status == now.status)
            #expect(former.devices == now.devices)
        }
    }

    @Test func `whom toggles stopped is forgotten with the event and the network`() async throws {
        try await pool.script(
            """
            INSERT INTO stopped_users (network_id, event_id, user_id, first_device, level, stopped, devices) VALUES
                ('acme', '01900000-0000-7000-8000-000000000000', 'u', 'd', 'user', 1, 2),
                ('acme', 'ffffffff-0000-7000-8000-000000000000', 'u', 'd', 'user', 1, 2);
            """
        )
        try await pool.housekeeper().sweep()
        #expect(try await pool.count("stopped_users") == 1)
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        #expect(try await pool.count("stopped_users") == 0)
    }

    /// What is said of an event by counting and by turning pages.
    private func answer(
        _ event: EventID,
        matching filter: DeliveryFilter = DeliveryFilter(),
        in scene: StoreScene
    ) async throws -> (status: EventStatus?, devices: [DeliveryStatus]) {
        var devices: [DeliveryStatus] = []
        var cursor: DeliveryCursor?
        repeat {
            let page = try #require(
                try await scene.history.deliveries(
                    of: event,
                    in: scene.network,
                    matching: filter,
                    after: cursor,
                    limit: 3
                )
            )
            devices += page.items
            cursor = page.next
        } while cursor != nil
        devices.sort { $0.record.deviceID < $1.record.deviceID }
        return (try await scene.history.event(event, in: scene.network), devices)
    }

    private func check(_ event: EventID, users: Int, in scene: StoreScene, _ pool: PostgresPool) async throws {
        let said = try await answer(event, in: scene)
        let (status, devices) = try await pool.snapshot { session in
            let reader = EventStatusReader(network: scene.network)
            let ledger = try reader.ledgers(of: [event], session)[event, default: DeliveryLedger()]
            var status = said.status
            status?.recipients.notified = users
            status?.recipients.suppressed = [.network: 0, .user: 0, .channel: 0]
            ledger.correct(&status)
            let page = ledger.page(matching: DeliveryFilter(), after: nil, limit: 1000)
            return (status, try reader.withTroubles(page.items, session))
        }
        #expect(said.status == status)
        #expect(said.devices == devices)
    }

    /// Adds 200 groups and 200 rows of the log, each of 500 devices; answers the number of the first row.
    private func fill(_ event: EventID, _ pool: PostgresPool) async throws -> Int64 {
        try await pool.withConnection { session in
            try session.execute(
                """
                INSERT INTO deliveries
                SELECT (jsonb_populate_record(d, n.changes)).*
                FROM deliveries d CROSS JOIN (
                    SELECT jsonb_build_object(
                        'group_id', '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'size', 500, 'targets',
                        (SELECT jsonb_agg(jsonb_build_array('p' || n || '-' || k, 'u'))::text
                         FROM generate_series(1, 500) k)) AS changes
                    FROM generate_series(1, 200) n
                ) AS n
                """
            )
            try session.execute(
                """
                INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead, suppressed,
                                      stopped_network, stopped_user, stopped_channel, records)
                SELECT 'acme', \(event.uuid), 'fcm', now(), 500, 0, 0, 0, 0, 0, 0, 0,
                       (SELECT jsonb_agg(jsonb_build_array('s' || n || '-' || k, 'u', 'delivered', 1, NULL, NULL, 0)
                                         ORDER BY k)::text
                        FROM generate_series(1, 500) k)
                FROM generate_series(1, 200) n ORDER BY n
                """
            )
            return try session.first("SELECT min(number) FROM outcomes") ?? 0
        }
    }
}
