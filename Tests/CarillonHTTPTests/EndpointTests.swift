import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// Endpoints (FACES section C1).
@Suite(.acme) struct EndpointTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let observer = #"{"url":"https://bot.acme.example/in","mode":"observe","events":["*"]}"#
    private static let interceptor = """
        {"url":"https://mod.acme.example/check","mode":"intercept","events":["message.sent"],"timeoutMs":1500,\
        "onFailure":"deliver","includeRecipients":true,"format":"carillon"}
        """

    @Test func `an endpoint is made with a secret, shown, listed and removed`() async throws {
        let made = try await network.call(.post, "endpoints", Self.observer)
        #expect(made.status == 201)
        #expect(made.string("secret")?.hasPrefix("whsec_") == true)
        let id = try #require(made.string("endpoint", "id"))
        let path = network.path("endpoints/\(id)")
        let shown = try await network.call(.get, path)
        #expect(
            shown.text == """
                {"id":"\(id)","url":"https://bot.acme.example/in","mode":"observe","events":["*"],"description":null,\
                "replayHours":72,"format":"carillon","state":"enabled","stateReason":null,"circuit":"closed",\
                "lastSuccessAt":null,"lastError":null,"createdAt":"2026-11-24T12:00:00.000Z"}
                """
        )
        #expect(made["endpoint"] == shown.json)
        let list = try await network.call(.get, "endpoints")
        #expect(list.text == #"{"items":[\#(shown.text)]}"#)
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.delete, path).status == 404)
        #expect(try await network.call(.get, path).status == 404)
        #expect(api.dispatcher.told == Array(repeating: "endpoints of acme changed", count: 3))
    }

    @Test func `endpoints come in pages, the oldest first`() async throws {
        var made: [String] = []
        for _ in 0..<3 {
            let answer = try await network.call(.post, "endpoints", Self.observer)
            made.append(try #require(answer.string("endpoint", "id")))
        }
        #expect(try await network.pagesOfIDs(in: "endpoints", limit: 2) == [Array(made[..<2]), Array(made[2...])])
        #expect(try await network.call(.get, "endpoints?limit=3")["next"] == nil)
        for query in ["limit=0", "limit=1001", "limit=x", "cursor=!"] {
            let refused = try await network.call(.get, "endpoints?\(query)")
            #expect(refused.refusal == "400 invalid-parameter", "\(query)")
        }
    }

    @Test func `endpoints are for admins`() async throws {
        let events = try await api.makeKey("events", in: network)
        for path in ["endpoints", "endpoints/e-1"] {
            #expect(try await network.call(.get, path, as: events).status == 403)
            #expect(try await api.call(.get, network.path(path)).status == 401)
        }
        #expect(try await network.call(.post, "endpoints", Self.observer, as: events).status == 403)
        for path in ["endpoints/e-1/test", "endpoints/e-1/secret/rotate"] {
            #expect(try await network.call(.post, path, as: events).status == 403)
            #expect(try await network.call(.post, path).status == 404)
        }
    }

    @Test(arguments: [
        (#"{}"#, ["/url", "/mode"]),
        (#"{"mode":"observe"}"#, ["/url", "/events"]),
        (#"{"mode":"watch","url":"https://a.example","events":["*"]}"#, ["/mode"]),
        (#"{"mode":"observe","url":"http://bot.acme.example","events":[]}"#, ["/events"]),
        (#"{"mode":"observe","url":"http://93.184.215.14/","events":["*"]}"#, ["/url"]),
        (#"{"mode":"observe","url":"https://10.0.0.1/","events":["*"]}"#, ["/url"]),
        (#"{"mode":"observe","url":"https://[::ffff:10.0.0.1]/","events":["*"]}"#, ["/url"]),
        (#"{"mode":"observe","url":"https://a.example/#x","events":["*"]}"#, ["/url"]),
        (#"{"mode":"observe","url":"ftp://a.example/","events":["*"]}"#, ["/url"]),
        (#"{"mode":"observe","url":"https://a.example","events":["message.read","*","frob.*",7]}"#, ["/events/3"]),
        (
            #"{"mode":"observe","url":"https://a.example","events":["message.read","*","frob.*"]}"#,
            ["/events/0", "/events/2"]
        ),
        (#"{"mode":"observe","url":"https://a.example","events":["*"],"replayHours":169}"#, ["/replayHours"]),
        (#"{"mode":"observe","url":"https://a.example","events":["*"],"format":"slack"}"#, ["/format"]),
        (
            #"{"mode":"observe","url":"https://a.example","events":["*"],"timeoutMs":500,"onFailure":"drop","includeRecipients":true}"#,
            ["/timeoutMs", "/onFailure", "/includeRecipients"]
        ),
        (#"{"mode":"intercept","url":"https://a.example","events":["*"],"replayHours":1}"#, ["/replayHours"]),
        (
            #"{"mode":"intercept","url":"https://a.example","events":["user.*","channel.updated"]}"#,
            ["/events/0", "/events/1"]
        ),
        (#"{"mode":"intercept","url":"https://a.example","events":["*"],"timeoutMs":99}"#, ["/timeoutMs"]),
        (#"{"mode":"intercept","url":"https://a.example","events":["*"],"timeoutMs":5001}"#, ["/timeoutMs"]),
        (#"{"mode":"intercept","url":"https://a.example","events":["*"],"onFailure":"hold"}"#, ["/onFailure"]),
        (#"{"mode":"observe","url":"https://a.example","events":["*"],"secret":"x"}"#, ["/secret"]),
        (#"{"mode":"intercept","url":"https://a.example","events":["*"],"format":"amity"}"#, ["/events/0"]),
        (
            #"{"mode":"intercept","url":"https://a.example","events":["message.sent","member.joined"],"format":"amity"}"#,
            ["/events/1"]
        ),
    ])
    func `what is wrong is refused with its place`(body: String, pointers: [String]) async throws {
        let answer = try await network.call(.post, "endpoints", body)
        #expect(answer.problem == "invalid-endpoint")
        #expect(answer.pointers == pointers)
    }

    @Test(arguments: [#""intercept","events":["message.sent"]"#, #""observe","events":["*"]"#])
    func `Amity's format is for what Amity has names for`(settings: String) async throws {
        let body = #"{"url":"https://a.example","format":"amity","mode":\#(settings)}"#
        #expect(try await network.call(.post, "endpoints", body).status == 201)
    }

    @Test func `http is for addresses that the operator allows`() async throws {
        for url in ["http://127.0.0.1:8080/x", "http://localhost/", "https://127.0.0.1/"] {
            let body = #"{"url":"\#(url)","mode":"observe","events":["message.*"]}"#
            let answer = try await network.call(.post, "endpoints", body)
            #expect(answer.status == 201)
        }
    }

    @Test func `at most one endpoint is asked about a type`() async throws {
        let path = network.path("endpoints")
        let first = try await network.call(.post, path, Self.interceptor)
        #expect(first.status == 201)
        #expect(first["endpoint", "timeoutMs"] == 1500 && first["endpoint", "includeRecipients"] == true)
        let second = try await network.call(.post, path, Self.interceptor)
        #expect(second.refusal == "409 interception-conflict")
        let other = Self.interceptor.replacing("message.sent", with: "member.*")
        let third = try await network.call(.post, path, other)
        #expect(third.status == 201)
        let id = try #require(third.string("endpoint", "id"))
        let patch = try await network.call(.patch, "\(path)/\(id)", #"{"events":["*"]}"#)
        #expect(patch.problem == "interception-conflict")
    }

    @Test func `a network has sixteen endpoints at the most`() async throws {
        for _ in 0..<16 {
            let made = try await network.call(.post, "endpoints", Self.observer)
            #expect(made.status == 201)
        }
        let next = try await network.call(.post, "endpoints", Self.observer)
        #expect(next.refusal == "409 limit-reached")
    }

    @Test func `an endpoint is patched and replaced`() async throws {
        let body = Self.observer.replacing(#""events""#, with: #""description":"Bot","replayHours":5,"events""#)
        let made = try await network.call(.post, "endpoints", body)
        let path = network.path("endpoints/\(try #require(made.string("endpoint", "id")))")
        let disabled = try await network.call(.patch, path, #"{"enabled":false}"#)
        #expect(disabled.string("state") == "disabled" && disabled.string("stateReason") == "disabled by an admin")
        #expect(disabled["replayHours"] == 5 && disabled.string("description") == "Bot")
        let mode = try await network.call(.patch, path, #"{"mode":"intercept","description":null}"#)
        #expect(mode.status == 200 && mode["replayHours"] == nil && mode["timeoutMs"] == 1500)
        #expect(mode["description"] == .some(.null) && mode.string("state") == "disabled")
        let wrong = try await network.call(.patch, path, #"{"replayHours":1}"#)
        #expect(wrong.pointers == ["/replayHours"])
        let enabled = try await network.call(.patch, path, #"{"enabled":true}"#)
        #expect(enabled.string("state") == "enabled" && enabled["stateReason"] == .some(.null))
        #expect(api.dispatcher.told.last?.hasPrefix("enabled acme/relay/e-") == true)
        let replaced = try await network.call(.put, path, Self.observer)
        #expect(replaced.status == 200 && replaced["replayHours"] == 72)
        #expect(replaced.string("id") == made.string("endpoint", "id"))
        let unknown = network.path("endpoints/e-none")
        #expect(try await network.call(.put, unknown, Self.observer).status == 404)
        #expect(try await network.call(.patch, unknown, "{}").status == 404)
    }

    @Test func `what is made with a key is made once`() async throws {
        let headers = ["idempotency-key": "k"]
        let path = network.path("endpoints")
        let first = try await network.call(.post, path, Self.observer, headers: headers)
        let second = try await network.call(.post, path, Self.observer, headers: headers)
        #expect(second.status == 201 && second.text == first.text)
        let list = try await network.call(.get, path)
        #expect(list["items", "1"] == nil)
    }

    @Test func `during the overlap both secrets sign`() async throws {
        let made = try await network.call(.post, "endpoints", Self.observer)
        let path = network.path("endpoints/\(try #require(made.string("endpoint", "id")))")
        let overlap = #"{"overlapSeconds":600}"#
        let rotated = try await network.call(.post, "\(path)/secret/rotate", overlap)
        #expect(rotated.status == 201)
        let secrets = [rotated.string("secret"), made.string("secret")].compactMap { $0 }
        #expect(secrets.count == 2 && Set(secrets).count == 2)
        _ = try await network.call(.post, "\(path)/test")
        #expect(api.caller.calls.last?.secrets.map { $0.text.reveal { $0 } } == secrets)
        try await api.database.advance(by: .seconds(601))
        _ = try await network.call(.post, "\(path)/test")
        #expect(api.caller.calls.last?.secrets.map { $0.text.reveal { $0 } } == Array(secrets.prefix(1)))
    }

    @Test func `a test is sent and answered with what came back`() async throws {
        let made = try await network.call(.post, "endpoints", Self.observer)
        let id = try #require(made.string("endpoint", "id"))
        let path = network.path("endpoints/\(id)/test")
        let fine = try await network.call(.post, path)
        #expect(fine.status == 200 && fine.text == #"{"status":204,"ms":12,"error":null}"#)
        let call = try #require(api.caller.calls.first)
        #expect(call.url == "https://bot.acme.example/in" && call.endpointID == EndpointID(trusted: id))
        #expect(String(decoding: call.body, as: UTF8.self).contains(#""type":"endpoint.test""#))
        api.caller.answers(EndpointAnswer(.success(.init(status: 302, body: [])), time: .milliseconds(3)))
        let redirect = try await network.call(.post, path)
        #expect(redirect.text == #"{"status":302,"ms":3,"error":"http 302"}"#)
        let refusal = EndpointAnswer.Failure(reason: "blocked address")
        api.caller.answers(EndpointAnswer(.failure(refusal), time: .zero))
        let refused = try await network.call(.post, path)
        #expect(refused.text == #"{"status":null,"ms":0,"error":"blocked address"}"#)
    }

    @Test func `the circuit of an endpoint is that of its lane, and no provider's`() async throws {
        let lane = Lane("e-1", in: "acme")
        try await withAPI(lanes: [LaneStatus(lane: lane, circuit: .open)]) { api in
            let network = try await api.makeNetwork()
            let (endpoints, secret) = (api.store.endpoints, WebhookSecret.generate())
            _ = try await endpoints.addEndpoint(.sample("e-1"), secret: secret, of: lane.networkID, answering: nil)
            let shown = try await network.call(.get, "endpoints/e-1")
            #expect(shown.string("circuit") == "open")
            let providers = try await network.call(.get, "providers")
            #expect(!providers.text.contains("relay"))
        }
    }

    @Test func `no device is reached by relay`() async throws {
        let body = #"{"userId":"alice","provider":"relay"}"#
        let answer = try await network.call(.put, "devices/d-1", body)
        #expect(answer.status == 400 && answer.pointers == ["/provider"])
    }
}
