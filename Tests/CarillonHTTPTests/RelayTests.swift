import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// Following what endpoints are told, and telling them again (FACES section C2).
@Suite(.acme) struct RelayTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    init() async throws {
        let id = NetworkID(trusted: network.id)
        for endpoint in [Endpoint.sample("e-1"), .sample("e-2", .intercepting, ["message.sent"])] {
            try await api.store.endpoints.addEndpoint(endpoint, to: id)
        }
    }

    @Test func `messages are listed in pages, by state and by event`() async throws {
        let ids = try await api.relay(3, in: network)
        let path = network.path("endpoints/e-1/deliveries")
        let first = try await network.call(.get, "\(path)?limit=2")
        #expect(first["items", "0", "eventId"] == .string(ids[2].description))
        #expect(
            first["items", "1"] == [
                "eventId": .string(ids[1].description), "type": "message.sent", "state": "pending", "attempts": 0,
                "status": .null, "ms": .null, "error": .null, "at": "2026-11-24T12:00:00.000Z",
            ]
        )
        let next = try #require(first.string("next"))
        let rest = try await network.call(.get, "\(path)?cursor=\(next)")
        #expect(rest["items", "0", "eventId"] == .string(ids[0].description) && rest["next"] == nil)
        let failed = try await network.call(.get, "\(path)?state=failed")
        #expect(failed.text == #"{"items":[]}"#)
        let one = try await network.call(.get, "\(path)?eventId=\(ids[1])&state=pending")
        #expect(one["items", "0", "eventId"] == .string(ids[1].description) && one["items", "1"] == nil)
        for query in ["state=lost", "eventId=7", "limit=0", "cursor=x"] {
            let wrong = try await network.call(.get, "\(path)?\(query)")
            #expect(wrong.problem == "invalid-parameter")
        }
    }

    @Test func `what is told is for admins, and for endpoints that are told`() async throws {
        let events = try await api.makeKey("events", in: network)
        let calls: [(HTTPRequest.Method, String, String?)] = [
            (.get, "deliveries", nil), (.post, "deliveries/019ab000-0000-7000-8000-000000000000/retry", nil),
            (.post, "replay", #"{"from":"2026-11-24T11:00:00Z","to":"2026-11-24T12:00:00Z"}"#),
        ]
        for (method, rest, body) in calls {
            let path = network.path("endpoints/e-1/\(rest)")
            #expect(try await api.call(method, path, body, as: events).status == 403)
            let unknown = network.path("endpoints/e-9/\(rest)")
            #expect(try await network.call(method, unknown, body).status == 404)
            let asked = try await network.call(method, "endpoints/e-2/\(rest)", body)
            #expect(asked.refusal == "409 not-an-observer")
        }
    }

    @Test func `a message is sent again`() async throws {
        let id = try await api.relay(1, in: network)[0]
        let path = network.path("endpoints/e-1/deliveries")
        let queued = try await network.call(.post, "\(path)/\(id)/retry")
        #expect(queued.status == 202 && queued.text.isEmpty)
        for unknown in ["019ab000-0000-7000-8000-000000000000", "x"] {
            let answer = try await network.call(.post, "\(path)/\(unknown)/retry")
            #expect(answer.status == 404)
        }
    }

    @Test func `a replay is begun, one at a time`() async throws {
        _ = try await api.relay(2, in: network)
        let path = network.path("endpoints/e-1/replay")
        let body =
            #"{"from":"2026-11-24T11:00:00Z","to":"2026-11-24T13:00:00Z","types":["message.*"],"onlyFailed":false}"#
        let begun = try await network.call(.post, path, body)
        #expect(begun.status == 202 && begun.text == #"{"events":2}"#)
        let second = try await network.call(.post, path, body)
        #expect(second.refusal == "409 replay-under-way")
    }

    @Test(arguments: [
        (#"{}"#, ["/from", "/to"]),
        (#"{"from":"yesterday","to":"2026-11-24T13:00:00Z"}"#, ["/from"]),
        (#"{"from":"2026-11-24T13:00:00Z","to":"2026-11-24T11:00:00Z"}"#, ["/to"]),
        (#"{"from":"2026-11-24T11:00:00Z","to":"2026-11-24T13:00:00Z","types":["message.sent","odd"]}"#, ["/types/1"]),
        (#"{"from":"2026-11-24T11:00:00Z","to":"2026-11-24T13:00:00Z","onlyFailed":1}"#, ["/onlyFailed"]),
        (#"{"from":"2026-11-24T11:00:00Z","to":"2026-11-24T13:00:00Z","all":true}"#, ["/all"]),
    ])
    func `a replay that cannot be read is refused with the place`(body: String, pointers: [String]) async throws {
        let answer = try await network.call(.post, "endpoints/e-1/replay", body)
        #expect(answer.problem == "invalid-replay" && answer.pointers == pointers)
    }
}

extension TestAPI {
    /// Has so many events expanded for endpoint `e-1` to be told of them.
    fileprivate func relay(_ count: Int, in network: Credentials) async throws -> [EventID] {
        let id = NetworkID(trusted: network.id)
        for number in 0..<count {
            let event = """
                {"id":"evt-\(number)","type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"u"},\
                "message":{"type":"text","text":"Hi"}}}
                """
            #expect(try await call(.post, network.path("events"), event, as: network.adminKey).status == 202)
        }
        let pending = try await store.inbox.claimEvents(limit: 100, excluding: []).sorted { $0.id < $1.id }
        let generator = UUIDv7Generator()
        for event in pending {
            var expansion = Expansion(event: event, groups: [], next: nil)
            expansion.keepsBody = true
            expansion.messages = [
                .message(about: event.id, event.event.type, in: id, id: generator.next(), at: event.receivedAt)
            ]
            _ = try await store.queue.enqueue([expansion])
        }
        return pending.map(\.id)
    }
}
