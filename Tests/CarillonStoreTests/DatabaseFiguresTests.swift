import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What is looked at from time to time for the metrics.
@Suite(.stores) struct DatabaseFiguresTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `the database has the size that PostgreSQL tells`() async throws {
        let bytes = try await DatabaseSize.bytes(pool)
        #expect((1_000_000..<1_000_000_000).contains(bytes))
    }

    @Test func `certificates are counted by how long they are good, and those to be renewed are named`() async throws {
        #expect(try await CertificateSummary(pool) == CertificateSummary(current: 0, ending: 0, ended: 0, first: []))
        let now = WallClock.system.now()
        func put(_ app: String, _ provider: ProviderName = .apns, days: Int64?, in network: NetworkID) async throws {
            var identity = JSONObject()
            identity["keyId"] = "\"notAfter\": 1"
            if let days { identity["notAfter"] = .string((now + .seconds(days * 86_400)).description) }
            let credential = ProviderCredential.sample(provider, app, identity, at: now)
            _ = try await scene.credentials.putProviderCredential(credential, of: network)
        }
        try await put("key", days: nil, in: scene.network)
        try await put("good", days: 31, in: scene.network)
        try await put("soon", days: 29, in: scene.network)
        try await put("first", days: -1, in: scene.otherNetwork)
        try await put("next", days: 1, in: scene.otherNetwork)
        try await put("of another service", .fcm, days: 1, in: scene.network)
        let summary = try await CertificateSummary(pool)
        #expect([summary.current, summary.ending, summary.ended] == [1, 2, 1])
        #expect(summary.first.map(\.appID) == ["first", "next", "soon"])
        #expect(summary.first.map(\.networkID) == [scene.otherNetwork, scene.otherNetwork, scene.network])
        #expect(summary.first.last?.end == now + .seconds(29 * 86_400))
        for number in 0..<30 { try await put("more \(number)", days: -2, in: scene.network) }
        let many = try await CertificateSummary(pool)
        #expect(many.ended == 31 && many.first.count == 20)
    }
}
