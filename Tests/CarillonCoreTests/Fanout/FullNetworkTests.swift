import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonCore

@Suite(.stores, .timeLimit(.minutes(2))) struct FullNetworkTests {
    private static let capacity = 128

    @Test func `what a network has beyond what a replica may hold of it is left where it is`() async throws {
        let recipients = HeldRecipients(StoreScene.here.recipients)
        let scene = try PipelineScene(store: .here, recipients: recipients, eventCapacity: Self.capacity)
        let (network, other) = (scene.network, scene.store.otherNetwork)
        try await scene.leave(600, in: network)
        try await scene.whileRunning {
            defer { recipients.open() }
            // All that may be expanded of one network, and what it may have waiting.
            let most = FanoutQueue.eventsPerNetwork + Self.capacity / 2
            try await eventually("a full queue") { scene.fanout.queue.events.count >= most }
            // Whoever finds one of these has looked at all networks again.
            for number in 0..<5 {
                try await scene.leave(1, in: other, from: number)
                try await eventually("a claim") {
                    try await scene.number("SELECT count(*) FROM inbox WHERE leased AND network_id = \(other.rawValue)")
                        > number
                }
            }
            let held = scene.fanout.queue.events.count(where: { $0.networkID == network })
            let claims: SQL = """
                SELECT sum(lease_token - 1)::bigint FROM inbox WHERE network_id = \(network.rawValue)
                """
            // The last of a claim may find no place, each time that there was some.
            #expect(try await scene.number(claims) <= held + 192)
        }
    }
}

extension PipelineScene {
    /// Has messages accepted that nobody has in hand.
    fileprivate func leave(_ count: Int, in network: NetworkID, from first: Int = 0) async throws {
        let events = try (first..<first + count).map { number -> ParsedEvent in
            let body = """
                {"id":"left-\(number)","type":"message.sent","data":{"channel":{"id":"general"},"user":{"id":"sender"},\
                "message":{"type":"text","text":"Hello"}}}
                """
            let parsed = try EventParser(clock: .system).parse(body: Array(body.utf8), fallbackSourceID: nil)
            guard case .single(let event) = parsed else { throw StoreAway() }
            return event
        }
        _ = try await store.ingest(events, in: network, store.ids, at: WallClock.system.now())
    }

    fileprivate func number(_ sql: SQL) async throws -> Int {
        try #require(try await store.pool.first(sql, as: Int.self))
    }
}

/// Recipients that are not found before a test says so.
private final class HeldRecipients: RecipientSource {
    private let store: any RecipientSource
    private let isOpen = Mutex(false)

    init(_ store: any RecipientSource) { self.store = store }

    func open() { isOpen.withLock { $0 = true } }

    func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        while !isOpen.withLock(\.self) { try await Task.sleep(for: .milliseconds(5)) }
        return try await store.recipients(for: queries)
    }
}
