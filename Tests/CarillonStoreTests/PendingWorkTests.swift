import CarillonCore
import Foundation
import Postgres
import Testing

@testable import CarillonStore
@testable import CarillonTesting

/// What waits in a database that nobody serves, as in one that was restored.
@Suite struct PendingWorkTests {
    private func work(_ pool: PostgresPool, of network: NetworkID? = nil, before: Timestamp? = nil) -> PendingWork {
        PendingWork(pool: pool, of: network, acceptedBefore: before, logger: TestDatabase.logger)
    }

    private func accept(_ id: String, _ scene: StoreScene) async throws -> EventID {
        let event = scene.incoming(.message("c", from: Person(id: "sender"), id: id))
        _ = try await scene.inbox.accept([event])
        return event.id
    }

    /// A row with messages to an endpoint.
    private func addMessages(_ count: Int, _ scene: StoreScene, _ pool: PostgresPool) async throws {
        try await scene.endpoints.addEndpoint(.sample("e-1"), to: scene.network)
        let id = scene.ids.next()
        let messages = (0..<count).map { _ in
            DeliveryGroup.message(about: EventID(scene.ids.next()), in: scene.network, id: id)
        }
        try await pool.withConnection { session in try session.insert(messages.joined) }
    }

    private func addReplay(_ scene: StoreScene, _ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            INSERT INTO replays (network_id, endpoint_id, after_id, until_id, types, only_failed)
            VALUES (\(scene.network.rawValue), 'e-1', \(scene.ids.next()), \(scene.ids.next()), '{}', false)
            """
        )
    }

    /// How many devices are counted as expired in a network's statistics.
    private func expired(_ scene: StoreScene) async throws -> Int {
        let now = WallClock.system.now()
        let rows = try await scene.statistics.rows(
            of: scene.network,
            from: now - .seconds(3_600),
            to: now + .seconds(3_600),
            inHours: false,
            asked: []
        )
        return rows.compactMap { $0.figures.deliveries[.fcm]?.expired }.reduce(0, +)
    }

    @Test func `all that waits is counted and ends unsent, whoever held it and whenever it was due`() async throws {
        try await StoreScene.withStores { scene, pool in
            let targets = [try await scene.target("d-1", of: "a"), try await scene.target("d-2", of: "b")]
            let open = try await accept("open", scene)
            let held = try await scene.enqueue(to: [targets], leased: true)
            let later = try await scene.enqueue(to: [[targets[0]], [targets[1]]])
            let delayed = try await scene.claim(limit: 1).map(\.group)
            try await scene.queue.release(delayed, after: .seconds(3_600))
            try await addMessages(3, scene, pool)
            try await addReplay(scene, pool)

            var expected = PendingWork.Counts()
            (expected.events, expected.devices, expected.messages, expected.replays) = (1, 4, 3, 1)
            let counts = try await work(pool).counts()
            expected.accepted = counts.accepted
            #expect(counts == expected)
            #expect(counts.accepted?.lowerBound == Timestamp(milliseconds: open.milliseconds))

            expected.accepted = nil
            #expect(try await work(pool).discard() == expected)
            #expect(try await work(pool).counts().isEmpty)
            try await scene.passTime()
            #expect(try await scene.claim().isEmpty)
            #expect(try await scene.inbox.claimEvents(limit: 9).isEmpty)

            let given = try #require(try await scene.history.event(open, in: scene.network))
            #expect(given.state == .done && given.failure == "discarded by an operator")
            for event in [held, later] {
                let status = try #require(try await scene.history.event(event, in: scene.network))
                #expect(status.state == .done && status.deliveries[.expired] == 2 && status.deliveries[.pending] == 0)
                let devices = try await scene.history.deliveries(of: event, in: scene.network, after: nil, limit: 9)
                let reasons = devices?.items.map(\.record.reason)
                #expect(reasons == ["discarded by an operator", "discarded by an operator"])
            }
            let told = try await scene.relays.relayDeliveries(in: scene.network)
            #expect(told.map(\.state) == [.failed, .failed, .failed])
            #expect(try await expired(scene) == 4)
            #expect(try await pool.count("dead_letters") == 0)
        }
    }

    @Test func `what is another network's, or was accepted later, goes on waiting`() async throws {
        try await StoreScene.withStores { scene, pool in
            let other = scene.inOtherNetwork()
            try await scene.enqueue(to: [[try await scene.target("d", of: "a")]])
            try await other.enqueue(to: [[try await other.target("d", of: "a")]])
            _ = try await accept("first", scene)
            let moment = WallClock.system.now() + .milliseconds(1)
            while WallClock.system.now() <= moment { await Task.yield() }
            let late = try await accept("second", scene)
            let later = try await scene.enqueue(to: [[try await scene.target("d", of: "a")]])

            #expect(try await work(pool, of: scene.network).counts().devices == 2)
            let done = try await work(pool, of: scene.network, before: moment).discard()
            #expect(done.events == 1 && done.devices == 1)
            let rest = try await work(pool).counts()
            #expect(rest.events == 1 && rest.devices == 2)
            for id in [late, later] {
                #expect(try await scene.history.event(id, in: scene.network)?.state != .done)
            }
            #expect(try await work(pool).isKnown(scene.network))
            #expect(try await !work(pool).isKnown("nobodys"))
        }
    }

    @Test func `what was cut off in the middle is gone on with, and counted once`() async throws {
        var configuration = try await TestDatabase.make()
        configuration.lockTimeout = .milliseconds(50)
        try await StoreScene.withStores(configuration) { scene, pool in
            let target = try await scene.target("d", of: "a")
            try await scene.enqueue(to: Array(repeating: [target], count: 120))
            let last: SQL = "SELECT group_id FROM deliveries ORDER BY group_id DESC LIMIT 1"
            let held = await pool.hold("SELECT 1 FROM deliveries WHERE group_id = (\(sql: last)) FOR UPDATE")
            await #expect(throws: PostgresError.self) { try await work(pool).discard() }
            #expect(try await work(pool).counts().devices == 20, "steps of fifty rows, each for itself")
            try await held.release()
            #expect(try await work(pool).discard().devices == 20)
            #expect(try await expired(scene) == 120)
        }
    }

    @Test func `rows that nobody can read keep none behind them waiting`() async throws {
        try await StoreScene.withStores { scene, pool in
            let target = try await scene.target("d", of: "a")
            try await scene.enqueue(to: Array(repeating: [target], count: 110))
            try await pool.execute(
                """
                UPDATE deliveries SET targets = 'nothing'
                WHERE group_id IN (SELECT group_id FROM deliveries ORDER BY group_id LIMIT 60)
                """
            )
            #expect(try await work(pool).discard().devices == 50)
            #expect(try await work(pool).counts().isEmpty)
        }
    }

    @Test func `whoever else is connected is seen`() async throws {
        let configuration = try await oneConnection()
        try await TestDatabase.withPool(configuration) { pool in
            #expect(try await work(pool).othersAtWork() == 0)
            try await TestDatabase.withPool(configuration) { other in
                try await other.execute("SELECT 1")
                #expect(try await work(pool).othersAtWork() == 1)
            }
        }
    }
}
