import CarillonCore
import NIOHTTP1
import Testing

extension Services {
    /// Endpoints that are told of events (FACES section C2), with real receivers.
    @Suite struct RelayTests {
        private let scratch = Scratch()

        @Test func `an endpoint is told of every event as it was posted, signed, whoever is notified`() async throws {
            let receiver = WebhookReceiver(answering: [])
            try await receiver.whileRunning { url in
                let service = try await RunningService.start(in: scratch)
                let network = try await TestNetwork(on: service)
                let endpoint = try await network.addEndpoint(url)
                try await network.begin(receiver)
                // Nobody is in the channel, all is switched off, and nobody is notified of the second.
                try await network.send(.PUT, "/notifications", ["enabled": false])
                guard case .object(var message) = TestEvents.messageSent("odd", text: "Hi \u{1F44B}") else { return }
                message["extra"] = ["list": [1, .null, "x"]]
                let posted: [JSONValue] = [
                    .object(message), ["id": "u-1", "type": "user.updated", "data": ["user": ["id": "bob"]]],
                ]
                for event in posted {
                    let id = try await network.accept(event)
                    let told = try await eventually("message \(id)") { receiver.requests.first { $0.id == id } }
                    #expect(told.isSigned(with: endpoint.secret))
                    let body = try JSONValue(parsing: told.body)
                    guard case .object(var members) = body else { return }
                    #expect(body["carillon"]?["eventId"]?.text == id && body["carillon"]?["networkId"]?.text == "acme")
                    #expect(body["carillon"]?["attempt"]?.integer == 1 && body["carillon"]?["replay"] == false)
                    members["carillon"] = nil
                    #expect(JSONValue.object(members) == event)
                    let state = try await network.done(id)
                    #expect(state["recipients"]?["resolved"]?.integer == 0)
                    #expect(state["deliveries"]?["delivered"]?.integer == 0)
                    let items = try await network.told(endpoint, "?eventId=\(id)")
                    #expect(items.map { $0["state"]?.text } == ["delivered"] && items.first?["status"]?.integer == 200)
                }
                let shown = try await network.send(.GET, "/endpoints/\(endpoint.id)")
                #expect(shown["lastSuccessAt"]?.text != nil && shown["circuit"]?.text == "closed")
                let metrics = try await service.management.send(.GET, "/metrics").text
                #expect(metrics.contains(#"carillon_relay_total{outcome="delivered"}"#))
                #expect(metrics.contains("carillon_relay_age_seconds_count"))
                #expect(!metrics.contains(#"carillon_deliveries_total{outcome="delivered",provider="relay"}"#))
                #expect(try await service.stop() == 0)
            }
        }

        @Test func `what was refused comes again with the same id, by itself, by hand and by replay`() async throws {
            let receiver = WebhookReceiver(answering: [])
            try await receiver.whileRunning { url in
                let service = try await RunningService.start(in: scratch)
                let network = try await TestNetwork(on: service)
                let endpoint = try await network.addEndpoint(url)
                try await scratch.ownServer.beginEndpoints()
                try await network.begin(receiver)
                let start = WallClock.system.now() - .seconds(1)
                receiver.answers([503])
                let first = try await network.accept(TestEvents.messageSent("first"))
                try await eventually("a second attempt") { receiver.attempts(of: first).count == 2 }
                #expect(receiver.attempts(of: first).map(\.attempt) == [1, 2])
                try await eventually("it being settled") {
                    try await network.told(endpoint, "?eventId=\(first)").first?["state"]?.text == "delivered"
                }
                // A receiver that says that it is gone is left alone, and what it missed is kept.
                receiver.answers([410])
                let second = try await network.accept(TestEvents.messageSent("second"))
                try await eventually("the endpoint being disabled") {
                    try await network.send(.GET, "/endpoints/\(endpoint.id)")["state"]?.text == "disabled"
                }
                let shown = try await network.send(.GET, "/endpoints/\(endpoint.id)")
                #expect(shown["stateReason"]?.text == "http 410")
                try await eventually("it being told of nothing more") { try await network.isQuiet(endpoint) }
                let missed = try await network.accept(TestEvents.messageSent("missed"))
                _ = try await network.done(missed)
                #expect(try await network.told(endpoint, "?state=failed").map { $0["eventId"]?.text } == [second])
                try await network.send(.PATCH, "/endpoints/\(endpoint.id)", ["enabled": true])
                try await network.send(.POST, "/endpoints/\(endpoint.id)/deliveries/\(second)/retry", expecting: [202])
                try await eventually("the one that was sent by hand") { receiver.attempts(of: second).count == 2 }
                #expect(receiver.attempts(of: second).map(\.isReplay) == [false, true])
                let order: JSONValue = [
                    "from": .string(start.description), "types": ["message.*"],
                    "to": .string((WallClock.system.now() + .seconds(1)).description),
                ]
                let replay = try await network.send(.POST, "/endpoints/\(endpoint.id)/replay", order, expecting: [202])
                #expect(replay["events"]?.integer == 3)
                try await eventually("the replay") { receiver.attempts(of: missed).count == 1 }
                #expect(receiver.attempts(of: missed).map(\.isReplay) == [true])
                try await eventually("the others") {
                    receiver.attempts(of: first).count == 3 && receiver.attempts(of: second).count == 3
                }
                #expect(try await service.stop() == 0)
            }
        }

        @Test func `a test reaches the receiver, and no private address`() async throws {
            let receiver = WebhookReceiver(answering: [204, 500])
            try await receiver.whileRunning { url in
                let service = try await RunningService.start(in: scratch)
                let network = try await TestNetwork(on: service)
                let endpoint = try await network.addEndpoint(url)
                let fine = try await network.send(.POST, "/endpoints/\(endpoint.id)/test")
                #expect(fine["status"]?.integer == 204 && fine["error"] == .null)
                #expect(receiver.requests.first?.isSigned(with: endpoint.secret) == true)
                let wrong = try await network.send(.POST, "/endpoints/\(endpoint.id)/test")
                #expect(wrong["status"]?.integer == 500 && wrong["error"]?.text == "http 500")
                let body: JSONValue = ["url": "https://10.0.0.1/", "mode": "observe", "events": ["*"]]
                try await network.send(.POST, "/endpoints", body, expecting: [400])
                #expect(try await service.stop() == 0)
            }
        }
    }
}

/// An endpoint of a network.
struct TestEndpoint: Sendable {
    let id: String
    let secret: String
}

extension TestNetwork {
    /// Makes an endpoint that is told of everything.
    func addEndpoint(_ url: String) async throws -> TestEndpoint {
        let body: JSONValue = ["url": .string(url), "mode": "observe", "events": ["*"]]
        let made = try await send(.POST, "/endpoints", body, expecting: [201])
        return TestEndpoint(id: try #require(made["endpoint"]?["id"]?.text), secret: try #require(made["secret"]?.text))
    }

    /// Posts what nobody is notified of until an endpoint is told of it, which it is from ten seconds after it was made: until then,
    /// where no test lets these pass.
    func begin(_ receiver: WebhookReceiver) async throws {
        try await eventually("the endpoint's beginning") {
            let id = try await probe()
            try await Task.sleep(for: .milliseconds(200))
            return receiver.requests.contains { $0.id == id }
        }
    }

    /// Whether an endpoint is not meant to be told of what happens now.
    func isQuiet(_ endpoint: TestEndpoint) async throws -> Bool {
        let id = try await probe()
        _ = try await done(id)
        return try await told(endpoint, "?eventId=\(id)").isEmpty
    }

    func told(_ endpoint: TestEndpoint, _ query: String = "") async throws -> [JSONValue] {
        try await send(.GET, "/endpoints/\(endpoint.id)/deliveries\(query)")["items"]?.elements ?? []
    }

    private func probe() async throws -> String {
        let id = "probe-\(UInt64.random(in: .min ... .max))"
        return try await accept(["id": .string(id), "type": "user.updated", "data": ["user": ["id": "probe"]]])
    }
}

extension WebhookReceiver {
    /// The attempts to tell of an event, with what stands in `carillon`.
    fileprivate func attempts(of event: String) -> [(attempt: Int?, isReplay: Bool)] {
        requests.filter { $0.id == event }.map { request in
            let own = (try? JSONValue(parsing: request.body))?["carillon"]
            return (own?["attempt"]?.integer, own?["replay"] == true)
        }
    }
}
