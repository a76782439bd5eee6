import CarillonCore
import CarillonTesting
import CoreMetrics
import Postgres
import Testing

@testable import CarillonStore

/// What is asked before a rest, and what ends it.
@Suite struct NextDueTests {
    private static let soon = Duration.seconds(5)

    private func move(_ table: SQL, by seconds: Int, in pool: PostgresPool) async throws {
        try await pool.script(
            "UPDATE \(sql: table) SET run_at = now() + \(sql: SQL(trusted: "\(seconds)")) * interval '1 second'"
        )
    }

    @Test func `the time of what waits or is leased is told before it comes, and that of nothing else`() async throws {
        try await StoreScene.withStores { scene, pool in
            let inbox = PostgresEventInbox(pool: pool)
            let outbox = PostgresOutbox(pool: pool, ids: scene.ids)
            #expect(try await inbox.nextDue(within: Self.soon) == nil)
            #expect(try await outbox.nextDue(within: Self.soon) == nil)
            for leased in ["true", "false"] {
                try await pool.script(
                    """
                    DELETE FROM inbox;
                    DELETE FROM deliveries;
                    INSERT INTO inbox (network_id, event_id, source_id, event_type, received_at, occurred_at, body, run_at, leased)
                    VALUES ('acme', gen_random_uuid(), 'x', 'message.sent', now(), now(), '{}', now(), \(sql: SQL(trusted: leased)));
                    INSERT INTO deliveries (network_id, group_id, event_id, provider, app_id, cause, locale, title, body, targets,
                                            size, attempt, run_at, expires_at, leased)
                    VALUES ('acme', gen_random_uuid(), gen_random_uuid(), 'log', '', '{}', 'en', '', '', '[]', 1, 1, now(),
                            now() + interval '1 hour', \(sql: SQL(trusted: leased)));
                    """
                )
                for (seconds, isSoon) in [(-60, false), (60, false), (4, true)] {
                    try await move("inbox", by: seconds, in: pool)
                    try await move("deliveries", by: seconds, in: pool)
                    let found = [
                        try await inbox.nextDue(within: Self.soon), try await outbox.nextDue(within: Self.soon),
                    ]
                    for time in found {
                        #expect((time != nil) == isSoon, "\(leased) \(seconds)")
                        if let time { #expect(time <= .seconds(4.1)) }
                    }
                }
            }
        }
    }

    @Test func `a source's time is told, and that of its lease`() async throws {
        try await StoreScene.withStores { scene, pool in
            #expect(try await scene.polls.nextDue() == nil)
            let settings = SourceSettings(url: "https://crm.example/p", interval: 60)
            _ = try await scene.sources.putSource("crm", settings, secret: .generate(), of: scene.network)
            #expect(try await scene.polls.nextDue() == .zero)
            #expect(try await scene.polls.claimSources(limit: 9, share: 9, busy: [:]).count == 1)
            let rest = try #require(try await scene.polls.nextDue())
            #expect(rest > .zero && rest <= ClaimedSource.leaseDuration)
        }
    }

    @Test func `whatever is written ends a rest, and looking for what is due does not`() async throws {
        let time = ManualTime(Timestamp(milliseconds: 0))
        let activity = Activity(mayRest: { true }, now: time.monotonic)
        var configuration = try await TestDatabase.make()
        configuration.joinUnitsOfWork(noting: activity)
        try await StoreScene.withStores(configuration) { scene, pool in
            let watch = QueueWatch(
                factory: NOOPMetricsHandler.instance,
                logger: TestDatabase.logger,
                activity: activity
            )
            let inbox = PostgresEventInbox(pool: pool)
            let outbox = PostgresOutbox(pool: pool, ids: scene.ids)
            time.advance(by: .seconds(60))
            await watch.attempt(.events) { _ = try await inbox.claimEvents(limit: 9) }
            await watch.attempt(.deliveries) {
                _ = try await outbox.claimGroups(limit: 9, limitPerLane: 9, excluding: ClaimExclusions())
            }
            await watch.attempt(.expired) { _ = try await outbox.claimExpired(limit: 9) }
            await watch.attempt(.age) { _ = try await outbox.oldestWait() }
            await watch.attempt(.sources) { _ = try await scene.polls.claimSources(limit: 9, share: 9, busy: [:]) }
            await watch.attempt(.replays) { _ = try await scene.replays.continueReplays() }
            _ = try await inbox.nextDue(within: Self.soon)
            _ = try await outbox.nextDue(within: Self.soon)
            _ = try await scene.polls.nextDue()
            #expect(activity.quiet >= .seconds(60))
            let settings = SourceSettings(url: "https://crm.example/p", interval: 60)
            _ = try await scene.sources.putSource("crm", settings, secret: .generate(), of: scene.network)
            #expect(activity.quiet == .zero)
        }
    }
}
