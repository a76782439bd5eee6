import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// `GET /v1/overview` (API section 13).
@Suite(.api) struct OverviewTests {
    private let api: TestAPI = lent()
    private static let path = "/v1/overview"
    private static let event = #"{"id":"1","type":"user.updated","data":{"user":{"id":"alice"}}}"#

    private func items(_ query: String = "") async throws -> [JSONValue] {
        let answer = try await api.call(.get, Self.path + query, as: TestAPI.operatorToken)
        #expect(answer.status == 200, "\(answer.text)")
        guard case .array(let items)? = answer["items"] else { return [] }
        return items
    }

    private func states(_ path: String, id: String) async throws -> [String: String] {
        let answer = try await api.call(.get, path, as: TestAPI.operatorToken)
        guard case .array(let items)? = answer["items"] else { return [:] }
        return Dictionary(
            items.compactMap { item in
                guard case .object(let members) = item, case .string(let id)? = members[id],
                    case .string(let state)? = members["state"]
                else { return nil }
                return (id, state)
            },
            uniquingKeysWith: { $1 }
        )
    }

    private func pause(_ app: String, of network: Credentials) async throws {
        let lane = Lane(networkID: NetworkID(trusted: network.id), provider: .apns, appID: app)
        let reason = LaneChange.pause(for: .seconds(600), reason: "403 InvalidProviderToken")
        _ = try await api.store.queue.apply(reason, to: LaneSelection(lane))
    }

    @Test func `networks with something wrong are listed, with their reasons`() async throws {
        let acme = try await api.makeNetwork()
        _ = try await api.makeNetwork("well")
        #expect(try await items().isEmpty)
        try await pause("com.acme.chat", of: acme)
        try await api.database.advance(by: .seconds(81))
        let expected = """
            [{"network":"acme","displayName":null,"state":"failing","reasons":[{"kind":"lane","name":"apns/com.acme.chat",\
            "since":"2026-11-24T12:00:00.000Z","detail":"403 InvalidProviderToken"}],"events":{"lastHour":0},\
            "oldestSeconds":81}]
            """
        #expect(JSONValue.array(try await items()).serializedText == expected)
    }

    @Test func `the worst come first, in pages`() async throws {
        let (old, young) = (try await api.makeNetwork("old"), try await api.makeNetwork("a-young"))
        let both = try await api.makeNetwork("both")
        let letters = try await api.makeNetwork("a-letters")
        _ = try await api.makeNetwork("0-well")
        try await pause("x", of: old)
        try await api.database.advance(by: .seconds(10))
        try await pause("x", of: young)
        try await pause("x", of: both)
        for network in [both, letters] {
            _ = try await api.store.giveUp(count: 2, in: NetworkID(trusted: network.id), at: TestAPI.now)
        }
        var met: [String] = []
        var cursor = ""
        repeat {
            let answer = try await api.call(.get, "\(Self.path)?all=true&limit=2\(cursor)", as: TestAPI.operatorToken)
            for index in ["0", "1"] {
                if case .string(let id)? = answer["items", index, "network"] { met.append(id) }
            }
            cursor = answer.string("next").map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        #expect(met == ["both", "old", "a-young", "a-letters", "0-well"])
        #expect(try await items().count == 4)
    }

    @Test func `senders that are refused are seen by their route, until they post as they should`() async throws {
        let network = try await api.makeNetwork()
        let events = try await api.makeKey("events", in: network)
        for number in 1...95 {
            let body = Self.event.replacing(#""1""#, with: #""\#(number)""#)
            #expect(try await network.call(.post, "events", body, as: events).status == 202)
        }
        let device = try await api.makeKey("device", in: network)
        for _ in 1...5 {
            #expect(try await network.call(.post, "events", Self.event, as: device).status == 403)
        }
        #expect(try await items().isEmpty, "one in twenty is none too many")
        for _ in 1...4 {
            #expect(try await api.call(.post, network.path("events/stream"), "{}").status == 404)
            #expect(try await network.call(.post, "notifications", "{}", as: events).status == 403)
        }
        #expect(try await items().isEmpty, "four are what a stranger tries")
        #expect(try await network.call(.post, "events", Self.event, as: "ck_wrong").status == 401)
        #expect(try await api.call(.post, network.path("events/stream"), "{}").status == 404)
        #expect(try await network.call(.post, "notifications", "{}", as: events).status == 403)
        #expect(try await api.call(.post, "/v1/networks/nobody/events", Self.event, as: "ck_wrong").status == 401)
        let found = try await items()
        #expect(found.count == 1)
        guard case .object(let members)? = found.first, case .array(let reasons)? = members["reasons"] else {
            return
        }
        #expect(
            reasons.map(\.serializedText)
                == [("events", 6, 101), ("events/stream", 5, 5), ("notifications", 5, 5)].map {
                    #"{"kind":"senders","name":"\#($0)","since":"2026-11-24T12:00:00.000Z","detail":"\#($1) of \#($2) posts of the last 5 minutes were refused with 401, 403 or 404"}"#
                }
        )
        try await api.database.advance(by: .seconds(420))
        #expect(try await items().isEmpty)
    }

    @Test func `all networks are new, working or idle where nothing is wrong`() async throws {
        let (working, idle) = (try await api.makeNetwork("working"), try await api.makeNetwork("idle"))
        _ = try await api.makeNetwork("new")
        let failing = try await api.makeNetwork("failing")
        #expect(try await idle.call(.post, "events", Self.event).status == 202)
        try await api.database.advance(by: .seconds(2 * 86_400))
        #expect(try await working.call(.post, "events", Self.event).status == 202)
        try await pause("x", of: failing)
        let expected = ["working": "working", "idle": "idle", "new": "new", "failing": "failing"]
        #expect(try await states("\(Self.path)?all=true", id: "network") == expected)
        #expect(try await states("/v1/networks", id: "id") == expected)
        #expect(try await states("/v1/networks?limit=2", id: "id").count == 2)
    }

    @Test func `only operators see it, and what is not known is 400`() async throws {
        let network = try await api.makeNetwork()
        #expect(try await network.call(.get, Self.path).status == 403)
        #expect(try await api.call(.get, Self.path).status == 401)
        for query in ["?al=true", "?all=yes", "?cursor=x", "?cursor=OTk6MDowOmE", "?limit=0"] {
            let answer = try await api.call(.get, Self.path + query, as: TestAPI.operatorToken)
            #expect(answer.status == 400 && answer.problem == "invalid-parameter", "\(query)")
        }
    }
}
