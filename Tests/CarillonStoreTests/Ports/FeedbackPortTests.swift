import CarillonCore
import CarillonTesting
import Testing

/// What store promises of telling endpoints what no event says.
@Suite(.stores) struct FeedbackPortTests {
    let scene = StoreScene.here

    @Test func `what became of devices is told to those who ask for it`() async throws {
        let wishes: [(EndpointID, [String])] = [
            ("e-1", ["delivery.failed"]), ("e-2", ["delivery.*"]), ("e-3", ["*"]), ("e-4", ["message.sent"]),
        ]
        for (id, events) in wishes {
            _ = try await scene.endpoints.addEndpoint(
                .sample(id, .observing, events),
                secret: .generate(),
                of: scene.network,
                answering: nil
            )
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
        _ = try await scene.endpoints.addEndpoint(
            .sample("e-1", .observing, ["lane.*"]),
            secret: .generate(),
            of: scene.network,
            answering: nil
        )
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
