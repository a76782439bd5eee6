import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonHTTP

/// Transactions that would hold up a homeserver's queue if they were refused (DIALECTS section 9).
@Suite(.acme) struct MatrixTransactionTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static func message(_ id: Int, _ text: String) -> String {
        #"{"event_id":"$\#(id)","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.text","body":"\#(text)"}}"#
    }

    private var path: String { network.path("events/matrix/_matrix/app/v1/transactions/1") }

    init() async throws { _ = try await network.call(.put, "dialects/matrix", #"{"secrets":["hs-token"]}"#) }

    @Test func `one bad event is passed over, which recent shows, and the rest is taken once`() async throws {
        let bad = Self.message(2, #"\q"#)
        let body = #"{"events":[\#(Self.message(1, "Hello")),\#(bad),\#(Self.message(3, "Bye"))]}"#
        for _ in 0..<2 {
            let answer = try await api.call(.put, path, body, as: "hs-token")
            #expect(answer.status == 200)
            #expect(answer.text == "{}")
        }
        let recent = try await network.call(.get, "dialects/matrix/recent")
        #expect(recent["items", "0", "verdict"] == "duplicate")
        #expect(recent["items", "1", "verdict"] == "accepted")
        let reason = "2 of 3 events; event 2 cannot be read: this is not an escape of JSON"
        #expect(recent["items", "1", "reason"] == .string(reason))
        let stored = try await network.call(.get, "events")
        #expect(stored["items", "1"] != nil && stored["items", "2"] == nil)
    }

    @Test func `a transaction may be much larger than events are, from who has proven who they are`() async throws {
        let text = String(repeating: "y", count: 3_000)
        let events = (1...100).map { Self.message($0, text) }.joined(separator: ",")
        let large = #"{"events":[\#(events)]}"#
        #expect(try await api.call(.put, path, large, as: "another").status == 403)
        #expect(try await api.call(.put, path, large, as: "hs-token").status == 200)
        let recent = try await network.call(.get, "dialects/matrix/recent")
        #expect(recent["items", "0", "reason"] == "100 of 100 events")
        #expect(recent["items", "1", "verdict"] == "refused")
        let refused = try await api.call(.put, path, String(repeating: " ", count: (16 << 20) + 1), as: "hs-token")
        #expect(refused.status == 413)
        #expect(refused["errcode"] == "M_TOO_LARGE")
    }

    @Test func `large bodies have few places in all, and each network one`() throws {
        let bodies = LargeBodies()
        let networks = (0...LargeBodies.atOnce).map { NetworkID(trusted: "n\($0)") }
        for network in networks.dropLast() { try bodies.enter(network) }
        #expect(throws: Problem.self) { try bodies.enter(networks[LargeBodies.atOnce]) }
        bodies.leave(networks[1])
        #expect(throws: Problem.self) { try bodies.enter(networks[0]) }
        try bodies.enter(networks[LargeBodies.atOnce])
    }
}
