import CarillonCore
import CarillonTesting
import CarillonWebhooks
import Foundation
import NIOHTTP1
import Synchronization
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(1))) struct RelayProviderTests {
    private static let body = #"{"type":"message.sent","x":[1.50]}"#

    private let gate = Gate()

    private func group(
        _ attempt: Int = 0,
        isReplay: Bool = false,
        event: EventID = .example,
        in network: NetworkID = "acme"
    ) -> DeliveryGroup {
        var group = DeliveryGroup(
            id: UUID(),
            telling: "e-1",
            of: RelayedEvent(event, .messageSent, receivedAt: .example),
            in: network,
            on: RelayTerms(expiresAt: Timestamp(milliseconds: 1_763_732_800_000), isReplay: isReplay)
        )
        group.attempt = attempt
        return group
    }

    private func message(
        _ body: String? = Self.body,
        _ state: Endpoint.State = .enabled,
        _ role: EndpointRole = .observing,
        secrets: [WebhookSecret] = [.generate()]
    ) -> RelayMessage {
        RelayMessage(
            settings: Endpoint.sample("e-1", role).settings,
            state: state,
            secrets: secrets,
            body: body.map { Array($0.utf8) }
        )
    }

    private func provider(_ source: some RelaySource, _ transport: RecordingTransport) -> RelayProvider {
        RelayProvider(client: EndpointClient(transport: transport, version: "1"), source: Placed(source))
    }

    private func outcome(
        of message: RelayMessage?,
        _ transport: RecordingTransport = RecordingTransport { _ in .answer(204) }
    ) async throws -> Outcome? {
        let group = group()
        let key = try #require(group.relayKey)
        let stored = StoredMessages(message.map { [key: $0] } ?? [:])
        return await provider(stored, transport).outcomes(of: group).first ?? nil
    }

    @Test func `the body is the event as it was posted, and what we say of it`() async throws {
        let transport = RecordingTransport { _ in .answer(204) }
        let secret = WebhookSecret.generate()
        let (first, again) = (group(), group(2, isReplay: true))
        let source = StoredMessages([try #require(first.relayKey): message(secrets: [secret])])
        for group in [first, again] { _ = await provider(source, transport).outcomes(of: group) }
        let bodies = transport.requests.map { String(decoding: $0.body, as: UTF8.self) }
        let own =
            #""carillon":{"eventId":"\#(EventID.example)","networkId":"acme","receivedAt":"2025-11-20T10:00:00.000Z","#
        #expect(bodies.first == #"{"type":"message.sent","x":[1.50],\#(own)"attempt":1,"replay":false}}"#)
        #expect(bodies.last == #"{"type":"message.sent","x":[1.50],\#(own)"attempt":3,"replay":true}}"#)
        for request in transport.requests {
            #expect(request.headers.first(name: "webhook-id") == EventID.example.description)
            #expect(request.lane == first.lane && request.url == "https://bot.acme.example/e-1")
            try Webhook(secret.signing).verify(
                request.body,
                id: EventID.example.description,
                timestamp: request.headers.first(name: "webhook-timestamp"),
                signature: request.headers.first(name: "webhook-signature")
            )
        }
    }

    @Test func `a message goes on in the trace of its event, each attempt as a step of its own`() async throws {
        let transport = RecordingTransport { _ in .answer(204) }
        let trace = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"))
        let group = group()
        var message = message()
        for trace in [nil, trace, trace] {
            message.trace = trace
            _ = await provider(StoredMessages([try #require(group.relayKey): message]), transport).outcomes(of: group)
        }
        let headers = transport.requests.map { $0.headers["traceparent"] }
        #expect(headers.map(\.count) == [0, 1, 1])
        let sent = headers.flatMap(\.self)
        #expect(Set(sent + [trace.header]).count == 3)
        for header in sent {
            #expect(header.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") && header.hasSuffix("-00"))
            #expect(TraceContext(header)?.header == header)
        }
    }

    @Test(arguments: [
        #"{"type":"x","carillon":{"eventId":"forged"}}"#, #"{"carill\u006fn":1,"type":"x"}"#,
        #"{"type":"x","data":{"carillon":1}} "#, #"{"type":"x","text":"\u0e2a"}"#,
    ])
    func `what a sender calls as we do is not taken for ours`(posted: String) throws {
        let body = RelayBody(Array(posted.utf8), about: group().event, of: group()).bytes
        let read = try JSONValue(parsing: body)
        guard case .object(let members) = read, case .object(let own)? = members["carillon"] else {
            Issue.record("not an object with our member")
            return
        }
        #expect(own["eventId"] == .string(EventID.example.description))
        #expect(members["type"] == "x")
    }

    @Test func `a direct notification says devices in the place of addresses`() throws {
        let posted = #"""
            {"id":"n-1","type":"notification.direct","data":{"to":{"addresses":[{"provider":"fcm","token":"secret-1","appId":"a"},\#
            {"provider":"webhook","url":"https://secret-2.example/"}]},"title":"Hi"}}
            """#
        var group = group()
        group.cause.eventType = .notificationDirect
        let body = String(decoding: RelayBody(Array(posted.utf8), about: group.event, of: group).bytes, as: UTF8.self)
        #expect(!body.contains("secret") && !body.contains("addresses"))
        let first = DeviceID(reachedAt: .fcm(token: "secret-1", appID: "a"))
        #expect(body.contains(#""to":{"deviceIds":["\#(first)","t-"#) && body.contains(#""title":"Hi""#))
        #expect(body.contains(#""carillon":{"eventId""#))
    }

    @Test func `each answer is an outcome with its time`() async throws {
        func outcome(_ status: Int) async throws -> Outcome? {
            try await self.outcome(of: message(), RecordingTransport { _ in .answer(status) })
        }
        guard case .delivered(let id?)? = try await outcome(204),
            case .unregister(nil, let gone)? = try await outcome(410),
            case .retry(nil, let moved, _)? = try await outcome(301),
            case .retry(nil, let busy, _)? = try await outcome(503)
        else {
            Issue.record("another outcome")
            return
        }
        #expect(RelayAnswer(id).status == 204 && RelayAnswer(id).error == nil && RelayAnswer(id).milliseconds != nil)
        #expect(RelayAnswer(gone).error == "http 410")
        #expect(RelayAnswer(moved).status == 301 && RelayAnswer(busy).status == 503)
        let late = try await self.outcome(of: message(), RecordingTransport { _ in throw OutboundError.timedOut })
        guard case .timedOut(let reason, _)? = late else {
            Issue.record("another outcome")
            return
        }
        #expect(RelayAnswer(reason).error == "timeout" && RelayAnswer(reason).status == nil)
        let wait = RecordingTransport { _ in .answer(429, headers: ["retry-after": "77"]) }
        guard case .retry(.seconds(77)?, _, _)? = try await self.outcome(of: message(), wait) else {
            Issue.record("another outcome")
            return
        }
    }

    @Test func `what cannot be told is not sent`() async throws {
        let transport = RecordingTransport { _ in .answer(204) }
        let rest = Outcome.deferLane(after: .seconds(300), reason: "endpoint disabled")
        #expect(try await outcome(of: message(Self.body, .disabled), transport) == rest)
        #expect(try await outcome(of: nil, transport) == .unsendable(reason: "endpoint removed"))
        #expect(try await outcome(of: message(nil), transport) == .unsendable(reason: "body not kept any more"))
        let asked = message(Self.body, .enabled, .intercepting)
        #expect(try await outcome(of: asked, transport) == .unsendable(reason: "endpoint does not observe"))
        let unsigned = message(secrets: [])
        #expect(try await outcome(of: unsigned, transport) == .deferLane(after: nil, reason: "no signing secret"))
        #expect(transport.requests.isEmpty)
    }

    /// A row of messages about some events.
    private func row(_ count: Int) -> DeliveryGroup {
        let ids = UUIDv7Generator()
        let row = ids.next()
        return (0..<count).map { _ in
            var part = group(event: EventID(ids.next()))
            part.id = row
            return part
        }.joined[0]
    }

    private func source(of group: DeliveryGroup) -> StoredMessages {
        StoredMessages(Dictionary(uniqueKeysWithValues: group.relayKeys.map { ($0, message()) }))
    }

    @Test func `each message of a row is a request of its own, with its own answer`() async throws {
        let row = row(30)
        let refused = row.targets[7].deviceID.rawValue
        let transport = RecordingTransport { request in
            .answer(request.headers.first(name: "webhook-id") == refused ? 500 : 204)
        }
        let answers = Mutex<[DeviceID: Outcome]>([:])
        await provider(source(of: row), transport).send(row) { target, outcome in
            answers.withLock { $0[target.deviceID] = outcome }
        }
        let ids = transport.requests.compactMap { $0.headers.first(name: "webhook-id") }
        #expect(ids.sorted() == row.targets.map(\.deviceID.rawValue).sorted())
        for request in transport.requests {
            let own = try JSONValue(parsing: request.body)
            guard case .object(let members) = own, case .object(let ours)? = members["carillon"] else {
                Issue.record("not an object with our member")
                continue
            }
            #expect(ours["eventId"] == request.headers.first(name: "webhook-id").map(JSONValue.string))
        }
        let known = answers.withLock(\.self)
        #expect(known.count == 30 && known.values.count { if case .delivered = $0 { true } else { false } } == 29)
        guard case .retry? = known[DeviceID(trusted: refused)] else {
            Issue.record("another outcome")
            return
        }
    }

    @Test func `bodies of a row are read as its messages are begun`() async throws {
        let row = row(100)
        let source = CountingSource(source(of: row))
        let transport = RecordingTransport { _ in
            await gate.wait()
            return .answer(204)
        }
        async let outcomes = provider(source, transport).outcomes(of: row)
        while transport.requests.count < DeliveryGroup.messagesAtATime { try await Task.sleep(for: .milliseconds(1)) }
        #expect(source.keys.count == RelaySlices.size)
        gate.knock()
        #expect(await outcomes.count == 100)
        #expect(Set(source.keys) == Set(row.relayKeys))
    }

    /// Remembers what was read.
    private final class CountingSource: RelaySource {
        var keys: [RelayKey] { read.withLock(\.self) }

        private let read = Mutex<[RelayKey]>([])
        private let source: StoredMessages

        init(_ source: StoredMessages) { self.source = source }

        func relayMessages(_ keys: [RelayKey]) async throws -> [RelayKey: RelayMessage] {
            read.withLock { $0 += keys }
            return try await source.relayMessages(keys)
        }
    }

    @Test(arguments: [(500, 10..<18), (410, 1..<9)])
    func `an endpoint that fails again and again is not told the rest of a row`(status: Int, told: Range<Int>) async {
        let row = row(100)
        let transport = RecordingTransport { _ in .answer(status) }
        _ = await provider(source(of: row), transport).outcomes(of: row)
        #expect(told.contains(transport.requests.count))
    }

    @Test func `that we have no place for a connection says nothing of an endpoint`() async {
        let row = row(100)
        let transport = RecordingTransport { _ in throw OutboundError.busy }
        let outcomes = await provider(source(of: row), transport).outcomes(of: row)
        let wait = Outcome.deferLane(after: .seconds(1), reason: "too many requests waiting", isOurs: true)
        #expect(outcomes == Array(repeating: wait, count: 100))
        #expect(transport.requests.count <= DeliveryGroup.messagesAtATime)
    }

    /// A placement that fails when it is told to.
    private final class SilentSource: RelaySource {
        let asked = Gate()
        private let isOver = Mutex(false)

        func fail() { isOver.withLock { $0 = true } }

        func relayMessages(_ keys: [RelayKey]) async throws -> [RelayKey: RelayMessage] {
            asked.knock()
            try await waitUntil { isOver.withLock(\.self) }
            throw StoreAway()
        }
    }

    @Test func `a placement that does not answer keeps its own messages, and no other's`() async throws {
        let (far, near) = (group(in: "far"), group())
        let silent = SilentSource()
        let away = try #require(PlacementName("away"))
        let source = Placed<any RelaySource>([.home: self.source(of: near), away: silent]) { network, _ in
            network == "far" ? away : .home
        }
        let transport = RecordingTransport { _ in .answer(204) }
        let provider = RelayProvider(client: EndpointClient(transport: transport, version: "1"), source: source)
        async let late = provider.outcomes(of: far)
        await silent.asked.wait()
        // What is asked for from here on is not read before that is over, where it is read with it.
        async let later = provider.outcomes(of: far)
        let outcomes = await provider.outcomes(of: near)
        silent.fail()
        #expect(outcomes.count { if case .delivered? = $0 { true } else { false } } == 1)
        let wait = Outcome.deferLane(after: .seconds(1), reason: "could not be read", isOurs: true)
        #expect(await late == [wait])
        #expect(await later == [wait])
        #expect(transport.requests.count == 1)
    }

    @Test func `what is sent at the same time is read together`() async throws {
        let reading = GatheredReading<Int, Int> { keys in
            await gate.wait()
            return Dictionary(uniqueKeysWithValues: keys.filter { $0 < 90 }.map { ($0, -$0) })
        }
        let values = try await withThrowingTaskGroup(of: Int?.self) { tasks in
            for number in 0..<100 { tasks.addTask { try await reading.value(of: number) } }
            gate.knock()
            return try await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(values.compactMap { $0 }) == Set((0..<90).map { -$0 }))
        #expect(values.count { $0 == nil } == 10)
    }

    @Test func `whoever reads with others gets what it asked for, and few read together`() async throws {
        let largest = Mutex(0)
        let reading = GatheredReading<Int, Int> { keys in
            await gate.wait()
            largest.withLock { $0 = max($0, keys.count) }
            return Dictionary(uniqueKeysWithValues: keys.map { ($0, -$0) })
        }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 0..<100 {
                tasks.addTask {
                    let keys = (0..<8).map { number * 8 + $0 }
                    let values = try await reading.values(of: keys)
                    #expect(values.keys.sorted() == keys)
                }
            }
            gate.knock()
            try await tasks.waitForAll()
        }
        #expect(largest.withLock { $0 } <= 72)
    }
}
