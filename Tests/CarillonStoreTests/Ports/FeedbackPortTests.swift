import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What store promises of telling endpoints what no event says.
@Suite(.stores) struct FeedbackPortTests {
    let scene = StoreScene.here

    @Test func `what became of devices is told to those who ask for it`() async throws {
        let wishes: [(EndpointID, [String])] = [
            ("e-1", ["delivery.failed"]), ("e-2", ["delivery.*"]), ("e-3", ["*"]), ("e-4", ["message.sent"]),
        ]
        for (id, events) in wishes {
            try await scene.endpoints.addEndpoint(.sample(id, .observing, events), to: scene.network)
        }
        let targets = try await [scene.target("d-1", of: "u"), scene.target("d-2", of: "u")]
        let event = try await scene.enqueue(to: targets.map { [$0] })
        for group in try await scene.claim().map(\.group) {
            let isFirst = group.targets[0].deviceID == "d-1"
            let settlement = Settlement.all(group, isFirst ? .dead : .delivered, reason: isFirst ? "why" : nil)
            _ = try await scene.queue.settle([settlement])
        }
        let messages = try await scene.claim().map(\.group)
        #expect(
            messages.map { "\($0.lane.appID) \($0.cause.eventType.rawValue)" }.sorted() == [
                "e-1 delivery.failed", "e-2 delivery.delivered", "e-2 delivery.failed",
            ]
        )
        let failed = messages.filter { $0.cause.eventType.rawValue == "delivery.failed" }.compactMap(\.relayKey)
        #expect(Set(failed.map(\.eventID)).count == 1, "one message for all who are told")
        let body = try #require(try await scene.messages.relayMessages(failed)[failed[0]]?.body)
        let read = try JSONValue(parsing: body)
        guard case .object(let members) = read, case .object(let data)? = members["data"],
            case .array(let devices)? = data["devices"], case .object(let device)? = devices.first
        else { throw UnexpectedAnswer() }
        #expect(members["type"] == "delivery.failed" && data["eventId"] == .string(event.description))
        #expect(data["provider"] == "fcm" && devices.count == 1)
        #expect(device["deviceId"] == "d-1" && device["userId"] == "u" && device["reason"] == "why")
        #expect(device["state"] == "dead")
        #expect(!String(decoding: body, as: UTF8.self).contains("token-of"))
        // What endpoints did not take is nobody's news.
        _ = try await scene.queue.settle(messages.map { .all($0, .dead) })
        #expect(try await scene.claim().isEmpty)
    }

    @Test func `a lane that is paused or sent to again is told of once`() async throws {
        try await scene.endpoints.addEndpoint(.sample("e-1", .observing, ["lane.*"]), to: scene.network)
        let lane = LaneSelection(Lane(networkID: scene.network, provider: .fcm, appID: "app"))
        for _ in 0..<2 { _ = try await scene.queue.apply(.pause(for: .seconds(60), reason: "quota"), to: lane) }
        for _ in 0..<2 { _ = try await scene.queue.apply(.resume, to: lane) }
        let endpoint = LaneSelection(Lane("e-1", in: scene.network))
        _ = try await scene.queue.apply(.pause(for: .zero, reason: "endpoint disabled"), to: endpoint)
        _ = try await scene.queue.apply(.resume, to: endpoint)
        let messages = try await scene.claim().map(\.group).sorted { $0.cause.eventID < $1.cause.eventID }
        #expect(messages.map(\.cause.eventType.rawValue) == ["lane.paused", "lane.resumed"])
        let key = try #require(messages.first?.relayKey)
        let body = try #require(try await scene.messages.relayMessages([key])[key]?.body)
        guard case .object(let members) = try JSONValue(parsing: body), case .object(let data)? = members["data"] else {
            throw UnexpectedAnswer()
        }
        #expect(data["provider"] == "fcm" && data["appId"] == "app" && data["reason"] == "quota")
        #expect(data["host"] == nil)
    }
}

/// What endpoints are told of devices and subscriptions that end by being tidied up.
@Suite(.stores) struct FeedbackTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `what is tidied up is told of, but for what came with a notification`() async throws {
        let ids = UUIDv7Generator()
        let cache = EndpointCache(store: scene.endpointLog, logger: TestDatabase.logger)
        let housekeeper = Housekeeper(
            pool: pool,
            feedback: FeedbackWriter(endpoints: cache, ids: ids),
            logger: TestDatabase.logger
        )
        _ = try await scene.endpoints.addEndpoint(
            .sample("e-1", .observing, ["device.*", "subscription.*"]),
            secret: .generate(),
            of: scene.network,
            answering: nil
        )
        for (id, user) in [("old", "a"), ("gone", "a"), ("theirs", "b")] as [(DeviceID, UserID)] {
            let device = Device(id, of: user, at: Timestamp(milliseconds: 0))
            _ = try await scene.devices.putDevice(device, in: scene.network, by: .admin)
            _ = try await scene.tags.subscribe(.device(id), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
        }
        _ = try await scene.tags.subscribe(.user("b"), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
        let transient = DeviceID(reachedAt: .log)
        try await pool.execute("UPDATE devices SET state = 'unregistered', state_at = 'epoch' WHERE device_id = 'old'")
        try await pool.execute(
            """
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, state, registered_at,
                                 transient, seen_at)
            VALUES ('acme', \(transient.rawValue), '', 'log', '', '', 'active', 'epoch', true, 'epoch')
            """
        )
        _ = try await scene.devices.deleteDevice("gone", ifOwnedBy: nil, in: scene.network)
        _ = try await scene.directory.deleteUser("b", in: scene.network)
        _ = try await scene.claim()
        for _ in 0..<2 { try await housekeeper.sweep() }
        #expect(try await pool.count("devices") == 0)
        let keys = try await scene.claim().compactMap(\.group.relayKey)
        let bodies = try await scene.messages.relayMessages(keys)
        let told = keys.compactMap { bodies[$0]?.body }.map { String(decoding: $0, as: UTF8.self) }.joined()
        for words in [
            #""deviceId":"old","userId":"a","provider":"log","reason":"aged""#,
            #""deviceId":"theirs","userId":"b","provider":"log","reason":"user deleted""#,
            #""tag":"t","userId":"b","reason":"user deleted""#,
            #""tag":"t","deviceId":"gone","reason":"device gone""#,
            #""tag":"t","deviceId":"old","reason":"device gone""#,
        ] {
            #expect(told.contains(words), "\(told)")
        }
        #expect(!told.contains(transient.rawValue))
    }
}
