import CarillonTesting
import Foundation
import Testing

@testable import CarillonCore

/// What endpoints are told, through the whole pipeline.
@Suite(.timeLimit(.minutes(1))) struct RelayPipelineTests {
    private func run(
        _ relay: ScriptedProvider,
        settings: EndpointSettings = Endpoint.sample("e-1").settings,
        isEnabled: Bool = true,
        age: Duration = .seconds(3_600),
        _ body: @Sendable @escaping (PipelineScene) async throws -> Void
    ) async throws {
        try await PipelineScene.run(members: 2, providers: [ScriptedProvider(), relay], isRelaying: true) { scene in
            let now = WallClock.system.now()
            var endpoint = Endpoint(id: "e-1", settings: settings, createdAt: now - age)
            if !isEnabled { endpoint.set(.disabled, reason: "test", at: now - age) }
            try await scene.store.endpoints.addEndpoint(endpoint, to: scene.network)
            try await body(scene)
        }
    }

    private func told(_ scene: PipelineScene, _ state: RelayState? = nil) async throws -> [RelayDelivery] {
        try await scene.store.relays.relayDeliveries(in: scene.network, state)
    }

    /// Waits for the end of an event that notifies people, and of one that notifies nobody.
    private func postBoth(_ scene: PipelineScene) async throws -> (message: EventID, update: EventID) {
        let message = try await scene.post()
        let update = try await scene.post(#"{"id":"u-1","type":"user.updated","data":{"user":{"id":"user-0"}}}"#)
        for id in [message, update] { _ = try await scene.finished(id) }
        return (message, update)
    }

    @Test func `an endpoint is told of what notifies people and of what does not`() async throws {
        let relay = ScriptedProvider(name: .relay) { _, _ in .delivered(id: "http 204 in 1 ms") }
        try await run(relay) { scene in
            let message = try await postBoth(scene).message
            try await eventually { try await told(scene, .delivered).count == 2 }
            #expect(try await told(scene).map(\.eventType) == [.userUpdated, .messageSent])
            #expect(try await scene.store.history.event(message, in: scene.network)?.deliveries[.delivered] == 2)
        }
    }

    @Test func `an endpoint that has just been made is told of nothing yet`() async throws {
        let relay = ScriptedProvider(name: .relay)
        try await run(relay, age: .seconds(-3_600)) { scene in
            _ = try await postBoth(scene)
            #expect(try await told(scene).isEmpty)
            #expect(try await scene.replay(to: "e-1") == 0)
        }
    }

    @Test func `an endpoint is told of the types that it wants`() async throws {
        var settings = Endpoint.sample("e-1").settings
        settings.events = EndpointEvents(trusted: ["user.*"])
        try await run(ScriptedProvider(name: .relay), settings: settings) { scene in
            let update = try await postBoth(scene).update
            try await eventually { try await told(scene, .delivered).count == 1 }
            #expect(try await told(scene).map(\.eventID) == [update])
        }
    }

    @Test func `what happens while an endpoint is disabled is kept for its replay`() async throws {
        let relay = ScriptedProvider(name: .relay)
        try await run(relay, isEnabled: false) { scene in
            _ = try await scene.finished(try await scene.post())
            #expect(try await told(scene).isEmpty)
            _ = try await scene.store.endpoints.updateEndpoint("e-1", of: scene.network) { endpoint in
                var changed = endpoint
                changed.set(.enabled, reason: nil, at: WallClock.system.now())
                return changed
            }
            // And in the seconds after that, in which it is not told of anything yet.
            _ = try await scene.finished(try await scene.post())
            #expect(try await told(scene).isEmpty)
            #expect(try await scene.replay(to: "e-1") == 2)
            while try await scene.store.replays.continueReplays() {}
            try await eventually { try await told(scene, .delivered).count == 2 }
        }
    }

    @Test func `failures in a row open the circuit, and what waits spends no attempt`() async throws {
        let isDown = Flag(true)
        let relay = ScriptedProvider(name: .relay) { _, _ in
            isDown.isSet ? .retry(after: nil, reason: "http 500 in 1 ms") : .delivered(id: "http 204 in 1 ms")
        }
        try await run(relay) { scene in
            for _ in 0..<20 { try await scene.post() }
            let open = try await eventually { scene.lanes.statuses.first { $0.circuit == .open } }
            #expect(open.lane == Lane("e-1", in: scene.network) && open.reason == "the last messages failed")
            for _ in 0..<80 { _ = try await scene.finished(try await scene.post()) }
            try await eventually { try await told(scene).count == 100 }
            let tried = try await told(scene).count { $0.attempts > 0 }
            #expect(tried < 60, "as many as were on their way")
            #expect(try await scene.store.endpoints.endpoints(of: scene.network).first?.lastError == "http 500")
            isDown.clear()
            await scene.lanes.credentialConfirmed(LaneSelection(open.lane))
            try await eventually { try await told(scene, .delivered).count == 100 }
            #expect(scene.lanes.statuses.allSatisfy { $0.circuit == .closed })
        }
    }

    @Test func `a circuit is open for 30 s, twice as long each time, and for 5 min at the most`() {
        var condition = LaneCondition()
        var now = Timestamp(milliseconds: 0)
        condition.apply(.trying, at: now)
        #expect(condition == LaneCondition(), "there is nothing to try")
        for (number, length) in [30, 60, 120, 240, 300, 300].enumerated() {
            // Whoever asks before they know opens it by trying, whoever sends by failing.
            condition.apply(number == 0 || number.isMultiple(of: 2) ? .failing(reason: "down") : .trying, at: now)
            condition.apply(.failing(reason: "late"), at: now)
            condition.apply(.trying, at: now)
            #expect(condition.remainingPause(at: now) == .seconds(length))
            now = now + .seconds(length)
            #expect(condition.remainingPause(at: now) == nil)
        }
        condition.apply(.resume, at: now)
        condition.apply(.failing(reason: "down"), at: now)
        #expect(condition.remainingPause(at: now) == .seconds(30))
    }

    @Test func `a try that told nothing leaves a circuit as it was, and the next one may try`() {
        var condition = LaneCondition()
        let start = Timestamp(milliseconds: 0)
        condition.apply(.triedInVain(), at: start)
        #expect(condition == LaneCondition())
        condition.apply(.failing(reason: "down"), at: start)
        let due = start + .seconds(30)
        let before = condition
        condition.apply(.trying, at: due)
        #expect(condition.remainingPause(at: due) == .seconds(60))
        condition.apply(.triedInVain(), at: due)
        #expect(condition.remainingPause(at: due) == nil && condition.nextPause == before.nextPause)
        condition.apply(.trying, at: due)
        #expect(condition.remainingPause(at: due) == .seconds(60) && condition.pause?.since == start)
    }

    @Test(
        arguments: [
            ("http 204 in 12 ms", 204, 12, nil), ("http 500 in 3 ms", 500, 3, "http 500"),
            ("timeout in 15000 ms", nil, 15_000, "timeout"),
            ("body not kept any more", nil, nil, "body not kept any more"),
            ("stuck in the mud in 1 ms", nil, 1, "stuck in the mud"),
            ("not delivered in time", nil, nil, "not delivered in time"),
        ] as [(String, Int?, Int?, String?)]
    )
    func `answers are written in words and read again`(text: String, status: Int?, time: Int?, error: String?) {
        let answer = RelayAnswer(text)
        #expect(answer.status == status && answer.milliseconds == time && answer.error == error)
        #expect(answer.description == text)
    }
}

extension PipelineScene {
    fileprivate func post(_ body: String) async throws -> EventID {
        let parsed = try EventParser(clock: .system).parse(body: Array(body.utf8), fallbackSourceID: nil)
        guard case .single(let event) = parsed else { throw StoreAway() }
        return try #require(await ingestor.accept([event], for: network).first).id
    }

    /// Asks for everything once more.
    fileprivate func replay(to endpoint: EndpointID) async throws -> Int {
        let now = WallClock.system.now()
        let order = ReplayOrder(
            from: now - .seconds(600),
            to: now + .seconds(600),
            types: ["message.sent", "user.updated"],
            onlyFailed: false
        )
        return try await store.relays.beginReplay(order, to: endpoint, in: network).events
    }
}
