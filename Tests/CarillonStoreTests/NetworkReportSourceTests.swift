import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// A look at all networks.
@Suite(.stores) struct NetworkReportSourceTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    private static func overview(_ pool: PostgresPool) -> NetworkOverview {
        let reportSource = PostgresNetworkReportSource(
            pool: pool,
            outbox: PostgresOutbox(pool: pool, ids: UUIDv7Generator())
        )
        return NetworkOverview(reportSource: reportSource, recorder: StatisticsRecorder())
    }

    @Test func `asks nothing for each network`() async throws {
        let proxy = try await TestDatabase.proxy()
        defer { proxy.close() }
        try await StoreScene.withStores(oneConnection(through: proxy)) { scene, pool in
            let overview = Self.overview(pool)
            func questions() async throws -> (reports: [NetworkReport], count: Int) {
                let before = proxy.requests
                let reports = try await overview.reports(after: nil, limit: 1_000, ofAll: true).items
                return (reports, proxy.requests - before)
            }
            // What is prepared and looked for once is not counted.
            for _ in 1...2 { _ = try await questions() }
            let few = try await questions()
            #expect(few.reports.map(\.state) == [.new, .new])
            try await pool.script(
                """
                INSERT INTO networks (network_id, created_at) SELECT 'n-' || n, now() FROM generate_series(1, 498) n;
                INSERT INTO lanes (network_id, provider, app_id, paused_since, paused_until, pause_reason, next_pause, changed_at)
                SELECT 'n-' || n, 'fcm', 'app', now() - n * interval '1 minute', now(), '403', 1, now()
                FROM generate_series(1, 100) n;
                INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, address_hash, registered_at)
                SELECT 'n-' || n, 'd', 'u', 'apns', 'app', 'x', sha256('x'), now() FROM generate_series(51, 150) n;
                INSERT INTO dead_letters (network_id, letter_id, event_id, provider, app_id, cause, locale, title, body, device_id,
                                          user_id, attempts, at)
                SELECT 'n-' || n % 10, gen_random_uuid(), gen_random_uuid(), 'fcm', 'app', '{}', '', '', '', 'd', 'u', 1, now()
                FROM generate_series(1, 2000) n;
                """
            )
            // Two statements of a pipeline that the proxy reads at once are one to it, or two.
            let many = try await questions()
            #expect(
                many.reports.count == 500 && many.count <= few.count + 2 && few.count > 5,
                "\(many.count), \(few.count)"
            )
            #expect(many.reports.count { $0.state == .failing } == 150)
            #expect(
                many.reports.flatMap(\.troubles).filter { $0.kind == .deadLetters }.map(\.detail).allSatisfy {
                    $0 == "100 or more dead letters"
                }
            )
            // Lanes first: those with more besides, then the oldest.
            let first = many.reports.prefix(3).map(\.network.id.rawValue)
            #expect(first == ["n-100", "n-99", "n-98"], "\(first)")
            _ = scene
        }
    }

    @Test func `pages meet each network once, those with something wrong first`() async throws {
        try await pool.script(
            """
            INSERT INTO networks (network_id, created_at) SELECT 'n-' || n, now() FROM generate_series(1, 20) n;
            INSERT INTO lanes (network_id, provider, app_id, paused_since, paused_until, pause_reason, next_pause, changed_at)
            SELECT 'n-' || n, 'fcm', 'app', now(), now(), '403', 1, now() FROM generate_series(1, 10) n;
            """
        )
        let overview = Self.overview(pool)
        var met: [NetworkReport] = []
        var cursor: NetworkCursor?
        repeat {
            let page = try await overview.reports(after: cursor, limit: 3, ofAll: true)
            met += page.items
            cursor = page.next.flatMap { NetworkCursor($0.description) }
            #expect((cursor == nil) == (page.next == nil))
        } while cursor != nil
        #expect(met.count == 22 && Set(met.map(\.network.id)).count == 22)
        #expect(
            met.map { $0.state == .failing } == Array(repeating: true, count: 10)
                + Array(repeating: false, count: 12)
        )
        #expect(try await overview.reports(after: nil, limit: 100, ofAll: false).items.count == 10)
    }

    @Test func `work that is due and that nobody takes is the worst`() async throws {
        try await scene.enqueue(to: [[try await scene.target("d-1", of: "a")]])
        try await pool.execute("UPDATE deliveries SET run_at = now() - interval '81 s'")
        let report = try #require(try await Self.overview(pool).reports(after: nil, limit: 9, ofAll: false).items.first)
        #expect(report.network.id == scene.network && report.troubles.first?.kind == .queue)
        #expect(report.oldestWait >= .seconds(81) && report.oldestWait < .seconds(600))
    }

    @Test func `browsers whose key pair has no subject are sent nothing, as those without one`() async throws {
        func credentials() async throws -> [String] {
            try await Self.overview(pool).reports(after: nil, limit: 9, ofAll: false).items.flatMap(\.troubles)
                .filter { $0.kind == .credential }.map { "\($0.name): \($0.detail)" }
        }
        let address = DeviceAddress.webpush(endpoint: "https://push.example/1", p256dh: "p", auth: "a")
        let browser = Device("b", of: "bob", address, at: .epoch)
        _ = try await scene.devices.putDevice(browser, in: scene.network)
        #expect(
            try await credentials() == ["webpush: there are devices and no credential, so that nothing is sent to them"]
        )
        // The pair that an admin's look makes, and what PUT makes of it.
        func put(subject: JSONValue) async throws {
            let credential = ProviderCredential.sample(
                .webpush,
                "",
                ["subject": subject, "publicKey": "B"],
                at: .epoch
            )
            _ = try await scene.credentials.putProviderCredential(credential, of: scene.network)
        }
        try await put(subject: .null)
        #expect(
            try await credentials() == [
                "webpush: there are devices and the key pair has no subject, so that nothing is sent to them"
            ]
        )
        try await put(subject: "mailto:ops@acme.example")
        #expect(try await credentials().isEmpty)
    }

    @Test func `a network of which only refused posts are known has never had an event`() async throws {
        var row = StatisticsRow(
            networkID: scene.network,
            at: StatisticsStep.hour.beginning(of: WallClock.system.now() - .seconds(3 * 3_600)),
            origin: .init(replica: UUID(), number: 1),
            figures: StatisticsFigures()
        )
        row.figures.posts["events", default: .init()].refused = 1
        try await scene.statistics.write([row])
        try await StatisticsSweep(pool: pool, clock: .system, logger: TestDatabase.logger).sweep()
        #expect(try await pool.count("statistics_hours") == 1)
        #expect(try await Self.overview(pool).states(of: [scene.network]) == [scene.network: .new])
        row.origin?.number = 2
        row.figures.events[.messageSent, default: .init()].accepted = 1
        try await scene.statistics.write([row])
        try await StatisticsSweep(pool: pool, clock: .system, logger: TestDatabase.logger).sweep()
        #expect(try await Self.overview(pool).states(of: [scene.network]) == [scene.network: .idle])
    }
}
