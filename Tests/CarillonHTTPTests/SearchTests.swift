import CarillonEdge
import CarillonTesting
import Foundation
import HTTPTypes
import Testing

@testable import CarillonCore

/// Filters of lists (CONSOLE section 2); what they find is in the contracts of the stores.
@Suite(.acme) struct SearchTests {
    private let network: Credentials = lent()

    @Test func `events are filtered by what the query says`() async throws {
        _ = try await network.call(.post, "events", EventTests.message)
        let renamed = #"{"id":"2","type":"user.updated","data":{"user":{"id":"bob"}}}"#
        _ = try await network.call(.post, "events", renamed)
        let now = "2026-11-24T12:00:00Z"
        for (query, found) in [
            ("", ["2", "evt-1"]), ("?type=message.sent", ["evt-1"]), ("?channelId=general", ["evt-1"]),
            ("?userId=bob", ["2"]), ("?state=done", ["2"]), ("?state=delivering", []),
            ("?from=\(now)", ["2", "evt-1"]), ("?to=\(now)", []),
            ("?from=2026-11-24T19:00:00%2B07:00&limit=1", ["2"]),
            ("?from=2026-11-24T19:00:00+07:00&userId=alice", ["evt-1"]),
        ] as [(String, [String])] {
            let answer = try await network.call(.get, "events\(query)")
            let items = (0..<found.count).map { answer["items", "\($0)", "sourceId"] }
            #expect(items == found.map { .string($0) }, "\(query)")
            #expect(answer["items", "\(found.count)"] == nil, "\(query)")
        }
    }

    @Test(arguments: [
        "events?typ=message.sent", "events?type=message", "events?type=", "events?state=gone", "events?channelId=",
        "events?userId=..", "events?from=yesterday", "events?to=2026-11-24",
        "events?type=message.sent&type=user.updated",
        "events?from=2026-11-24T12:00:01Z&to=2026-11-24T12:00:00Z",
        "events?%74ype=message.sent", "events?cursor=AAAA", "users?q=a", "users?query=%00", "users?query=a&query=b",
        "users?cursor=eA", "users/alice/channels?after=b", "users?limit=0", "channels?Query=a", "channels?query=%ff",
        "channels?query=\(String(repeating: "a", count: 257))",
    ])
    func `a filter that says nothing known is 400`(path: String) async throws {
        let answer = try await network.call(.get, path)
        #expect(answer.status == 400 && answer.problem == "invalid-parameter", "\(answer.text)")
    }

    @Test func `users and channels are listed and found, in pages, by admins`() async throws {
        for (path, body) in [
            ("users/alice", #"{"displayName":"Zoe"}"#), ("users/bob", #"{"displayName":"Alan"}"#),
            ("users/50%25", "{}"), ("channels/general", "{}"),
        ] {
            #expect(try await network.call(.put, path, body).status == 201)
        }
        let first = try await network.call(.get, "users?query=AL&limit=1")
        #expect(first["items", "0", "id"] == "alice" && first["items", "1"] == nil)
        let cursor = try #require(first.string("next"))
        let second = try await network.call(.get, "users?query=AL&limit=1&cursor=\(cursor)")
        #expect(second["items", "0", "id"] == "bob" && second["next"] == nil)
        let percent = try await network.call(.get, "users?query=50%25")
        #expect(percent["items", "0", "id"] == "50%" && percent["items", "1"] == nil)
        let all = try await network.call(.get, "users")
        #expect(all["items", "2", "id"] == "bob")
        let channels = try await network.call(.get, "channels?query=GEN")
        #expect(channels.text == #"{"items":[{"id":"general","displayName":null,"direct":false}]}"#)
        #expect(try await network.call(.get, "users", as: network.token()).status == 403)
        // Of others' channels users do not even learn that there are such others.
        for (path, key, status) in [
            ("bob", network.token(), 404), ("me", network.token(), 200), ("bob", network.adminKey, 200),
        ] {
            let answer = try await network.call(.get, "users/\(path)/channels", as: key)
            #expect(answer.status == status, "\(path)")
        }
    }
}

/// `GET /stats` (CONSOLE section 2).
@Suite(.acme) struct StatisticsTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let range = "from=2026-11-24T11:00:00Z&to=2026-11-24T13:00:00Z"

    @Test func `figures are shown by steps, what did not happen is left out`() async throws {
        var figures = StatisticsFigures()
        figures.events[.messageSent, default: .init()].accepted = 10
        figures.events[.messageSent, default: .init()].duplicate = 1
        let subject = StatisticsFigures.Subject(type: .messageSent, module: .chat)
        figures.recipients[subject, default: .init()].notified = 20
        figures.recipients[subject, default: .init()].noDevice = 1
        figures.recipients[subject, default: .init()].suppressed = [.user: 2, .channel: 1]
        figures.deliveries[.apns, default: .init()].delivered = 18
        figures.deliveries[.apns, default: .init()].retries = 1
        for milliseconds in [3, 3, 20] { figures.latency.note(Int64(milliseconds)) }
        let row = StatisticsRow(
            networkID: NetworkID(trusted: network.id),
            at: TestAPI.now + .seconds(60),
            origin: StatisticsRow.Origin(replica: UUID(), number: 1),
            figures: figures
        )
        try await api.store.statistics.write([row])
        let recipients =
            #"{"notified":20,"noDevice":1,"suppressed":{"network":0,"user":2,"channel":1,"endpoint":0}}"#
        for (step, at) in [("minute", "12:01"), ("hour", "12:00"), ("day", "00:00")] {
            let answer = try await network.call(.get, "stats?\(Self.range)&step=\(step)")
            let expected = """
                [{"at":"2026-11-24T\(at):00.000Z","events":{"message.sent":{"accepted":10,"duplicate":1}},\
                "recipients":\(recipients),"recipientsByType":{"message.sent":\(recipients)},\
                "recipientsByModule":{"chat":\(recipients)},"deliveries":{"apns":{"delivered":18,"unregistered":0,\
                "expired":0,"dead":0,"retries":1}},"latency":{"p50":3,"p99":20}}]
                """
            #expect(answer["points"]?.serializedText == expected)
            #expect(answer["step"] == .string(step))
        }
        // A step that is begun is shown as a whole.
        let whole = try await network.call(.get, "stats?from=2026-11-24T12:00:30Z&to=2026-11-24T12:01:30Z&step=minute")
        #expect(whole.string("from") == "2026-11-24T12:00:00.000Z" && whole.string("to") == "2026-11-24T12:02:00.000Z")
        #expect(whole["points", "0", "latency", "p99"] == 20)
        let nothing = try await network.call(.get, "stats?from=2026-11-24T12:00:00Z&to=2026-11-24T12:00:00Z&step=day")
        #expect(nothing.status == 200)
        #expect(
            try await network.call(.get, "stats?\(Self.range)&step=day", as: network.token()).status
                == 403
        )
    }

    @Test func `what was counted of a network goes with it`() async throws {
        let recorder = api.services.recorder
        let id = NetworkID(trusted: network.id)
        recorder.add(to: id) { $0.latency.note(7) }
        #expect(recorder.unwritten(of: id).count == 1)
        let deletion = try await api.call(.delete, "/v1/networks/\(network.id)", as: TestAPI.operatorToken)
        #expect(deletion.status == 204)
        #expect(recorder.unwritten(of: id).isEmpty)
    }

    @Test(arguments: [
        "", "?\(range)", "?\(range)&step=week", "?\(range)&step=", "?step=day&from=2026-11-24T11:00:00Z",
        "?step=day&to=2026-11-24T11:00:00Z", "?step=day&from=2026-11-24T11:00:01Z&to=2026-11-24T11:00:00Z",
        "?step=day&from=today&to=2026-11-24T11:00:00Z", "?\(range)&step=hour&limit=10", "?\(range)&step=hour&step=day",
        "?step=minute&from=2026-11-24T11:00:00Z&to=2026-11-25T12:01:00Z",
        "?step=day&from=1970-01-01T00:00:00Z&to=9999-12-31T23:59:59Z",
        "?step=day&from=9999-12-31T00:00:00Z&to=9999-12-31T23:59:59Z",
    ])
    func `a question that cannot be answered is 400`(query: String) async throws {
        let answer = try await network.call(.get, "stats\(query)")
        #expect(answer.status == 400 && answer.problem == "invalid-parameter", "\(answer.text)")
    }

    @Test func `1,500 points are not too many`() async throws {
        let query = "step=minute&from=2026-11-24T11:00:00Z&to=2026-11-25T12:00:00Z"
        let answer = try await network.call(.get, "stats?\(query)")
        #expect(answer.status == 200 && answer["points"] == [])
    }
}
