import CarillonCore
import Foundation
import Metrics
import Logging
import Postgres
import Testing

@testable import CarillonStore
@testable import CarillonTesting

/// Whoever holds rows of one network holds up nobody else's events.
@Suite(.stores, .timeLimit(.minutes(2))) struct LockedRowsTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `a network whose user is locked costs the others nothing, and loses nothing`() async throws {
        try await scene.accept(.user(.userUpdated, Person(id: "a", displayName: "Before"), at: 0))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let ingestor = Ingestor(
            inbox: scene.inbox,
            fanout: FanoutQueue(inbox: scene.inbox, logger: logger),
            ids: scene.ids,
            clock: .system,
            metrics: PipelineMetrics(factory: NOOPMetricsHandler.instance)
        )
        let held = await pool.hold("SELECT FROM users WHERE user_id = 'a' FOR UPDATE")
        let rename = Event.user(.userUpdated, Person(id: "a", displayName: "After"), at: 10)
        async let late = ingestor.accept([rename.parsed], for: scene.network)
        for number in 0..<50 {
            let event = Event.message("c", from: Person(id: "b"), at: Int64(number), id: "other-\(number)")
            let receipts = try await ingestor.accept([event.parsed], for: scene.otherNetwork)
            #expect(receipts.map(\.status) == [.accepted])
        }
        try await held.release()
        #expect(try await late.map(\.status) == [.accepted])
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "After")
    }

    @Test func `an event that waits for a lock in vain is no poison, and can be sent again`() async throws {
        try await scene.accept(.user(.userUpdated, Person(id: "a", displayName: "Before"), at: 0))
        let event = scene.incoming(.user(.userUpdated, Person(id: "a", displayName: "After"), at: 10))
        let held = await pool.hold("SELECT FROM users WHERE user_id = 'a' FOR UPDATE")
        do {
            _ = try await scene.inbox.accept([event], lockWait: .milliseconds(20))
            Issue.record("the row was locked")
        } catch {
            #expect(error.isContention)
            #expect(error.isTransient)
        }
        try await held.release()
        #expect(try await scene.inbox.accept([event]).map(\.unmarked) == [.accepted(event.id)])
    }

    @Test func `a row that somebody holds costs no other its lease, and not its own either`() async throws {
        let targets = [try await scene.target("d1", of: "b"), try await scene.target("d2", of: "b")]
        try await scene.enqueue(to: targets.map { [$0] })
        let groups = try await scene.claim().map(\.group)
        for id in ["1", "2"] { try await scene.accept(.message("c", from: Person(id: "a"), id: id)) }
        let events = try await scene.inbox.claimEvents(limit: 2)
        try await pool.execute("UPDATE deliveries SET run_at = now() + interval '9 seconds'")
        try await pool.execute("UPDATE inbox SET run_at = now() + interval '9 seconds'")
        let group = await pool.hold("SELECT FROM deliveries WHERE group_id = \(groups[0].id) FOR UPDATE")
        let event = await pool.hold("SELECT FROM inbox WHERE event_id = \(events[0].id.uuid) FOR UPDATE")
        let leases = try await scene.queue.renew(groups)
        #expect(leases == RenewedLeases(renewed: [groups[1].id], passed: [groups[0].id]))
        #expect(try await scene.inbox.renew(events) == [events[1].id])
        try await group.release()
        try await event.release()
        for table in ["deliveries", "inbox"] {
            let renewed: SQL = "SELECT count(*) FROM \(identifier: table) WHERE run_at > now() + interval '10 seconds'"
            #expect(try await pool.first(renewed, as: Int.self) == 1)
        }
        #expect(try await scene.queue.renew(groups).renewed == Set(groups.map(\.id)))
    }

    @Test func `a network of which a device is locked keeps no other one's notifications waiting`() async throws {
        // One of the devices of the first network is gone, which has to be noted.
        let provider = ScriptedProvider { target, _ in
            guard target.userID == "user-4" else { return .delivered(id: nil) }
            return .unregister(at: nil, reason: "gone")
        }
        let pipeline = try PipelineScene(store: scene, provider: provider)
        try await pipeline.populate(scene.network, members: 5)
        try await pipeline.populate(scene.otherNetwork, members: 2)
        let held = await pool.hold("SELECT FROM devices WHERE network_id = \(scene.network.rawValue) FOR UPDATE")
        try await pipeline.whileRunning {
            var late: [EventID] = []
            for _ in 0..<5 {
                late.append(try await pipeline.post())
                let id = try await pipeline.post(in: self.scene.otherNetwork)
                #expect(try await pipeline.finished(id, in: self.scene.otherNetwork).deliveries[.delivered] == 2)
            }
            try await held.release()
            for id in late {
                let status = try await pipeline.finished(id)
                #expect(status.recipients.notified == status.deliveries.values.reduce(0, +))
            }
            let device = try await self.scene.devices.device("device of user-4", in: self.scene.network)
            #expect(device?.state == .unregistered)
        }
    }

    @Test func `a text that is kept locks none that was kept before`() async throws {
        // Ids by which it is looked for what goes.
        let ids = sequence(state: scene.ids) { $0.next() }.lazy.filter { $0.uuid.15 == 0 }
        for id in ids.prefix(3) { try await scene.faces.keepTexts([EventID(id): "words"], of: scene.network) }
        let locked = try await pool.queryFirst(
            "SELECT count(*) FILTER (WHERE xmax::text <> '0'), count(*) FROM message_texts"
        ) {
            [try $0.decode(0, as: Int64.self), try $0.decode(1, as: Int64.self)]
        }
        #expect(locked == [0, 3])
    }

    @Test func `a device that gets another token, while its own is taken by another device, stays`() async throws {
        let phone = { (id: DeviceID) in
            Device(id, of: "a", .apns(token: "AB", appID: "app", environment: .sandbox), at: .seconds(3))
        }
        _ = try await scene.devices.putDevice(phone("old"), in: scene.network)
        let held = await pool.hold("UPDATE devices SET address_hash = '\\x00' WHERE device_id = 'old'")
        async let taken = scene.devices.putDevice(phone("new"), in: scene.network)
        while try await !pool.isAnybodyWaiting() { try await Task.sleep(for: .milliseconds(5)) }
        try await held.release()
        _ = try await taken
        #expect(try await scene.devices.device("old", in: scene.network) != nil)
        #expect(try await scene.devices.device("new", in: scene.network) != nil)
    }
}

/// Where a lock is waited for longer than any test lasts, unless it is said how long.
@Sendable private func patientServer() async throws -> PostgresConfiguration {
    var configuration = try await TestDatabase.make()
    configuration.lockTimeout = .seconds(600)
    return configuration
}

@Suite(.stores(patientServer), .timeLimit(.minutes(1))) struct LockedAddressTests {
    private let scene = StoreScene.here

    @Test func `a device that one network's notification names, and somebody holds, is not waited for by others`()
        async throws
    {
        let named = AddressedDevice(address: .fcm(token: "token", appID: "app"))
        let direct = RecipientQuery(.direct(.addresses([named])), in: scene.network)
        let other = RecipientQuery(.message("c", from: Person(id: "a")), in: scene.otherNetwork)
        #expect(try await scene.recipients.page(for: direct).recipients.flatMap(\.devices).count == 1)
        // What was not named for a day is noted anew.
        try await scene.pool.execute("UPDATE devices SET seen_at = now() - interval '2 days'")
        let held = await scene.pool.hold("SELECT FROM devices FOR UPDATE")
        for queries in [[direct, other], [direct]] {
            do {
                _ = try await scene.recipients.recipients(for: queries)
                Issue.record("the row was locked")
            } catch {
                #expect(error.isContention)
            }
        }
        try await held.release()
        #expect(try await scene.recipients.recipients(for: [direct, other]).count == 2)
    }
}

extension Event {
    fileprivate var parsed: ParsedEvent { ParsedEvent(sourceID: sourceID, content: .known(self), body: body) }
}
