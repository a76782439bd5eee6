import Foundation
import NIOHTTP1
import Postgres
import Testing

extension Services {
    /// The package of PostgreSQL is upgraded under the embedded server.
    @Suite struct PostgresUpgradeTests {
        @Test func `retries and relay go on when the running server's files are replaced, and so does its next start`()
            async throws
        {
            let scratch = Scratch(holdsPrograms: true)
            let installation = try await Installation(copiedInto: scratch)
            let receiver = WebhookReceiver(answering: [])
            try await receiver.whileRunning { url in
                let service = try await RunningService.start(in: scratch, environment: installation.environment)
                let network = try await TestNetwork(on: service)
                _ = try await network.addEndpoint(url)
                try await scratch.ownServer.beginEndpoints()
                try await network.begin(receiver)

                try installation.replaceLibraries()
                // Who has loaded a library keeps it, so that only sessions which begin now show what became of it.
                try await endSessions(in: scratch)
                receiver.answers([Int](repeating: 503, count: 8))
                // Messages of one commit share a row, whose claim calls a function in PL/pgSQL.
                let events = try await network.accept((0..<8).map { TestEvents.messageSent("replaced-\($0)") })
                #expect(events.count == 8)
                for event in events {
                    try await eventually("a second attempt of \(event)") { receiver.count(of: event) > 1 }
                }
                #expect(try await service.management.send(.GET, "/health/ready").status == 200)
                let metrics = try await service.management.send(.GET, "/metrics").text
                // A claim that was running when its session ended may have failed, once.
                let failures = metrics.firstMatch(of: /carillon_queue_failures_total{step="deliveries"} (\d+)/)
                #expect(try Int(#require(failures).1).map { $0 <= 1 } == true)

                try installation.completeUpgrade()
                let former = try #require(PostmasterFile(dataDirectory: scratch.path("data")))
                former.killAll()
                receiver.answers([503])
                let event = try await eventually("an event being accepted") { () -> String? in
                    let answer = try await network.post(TestEvents.messageSent("restarted"))
                    return answer.status == 202 ? answer.json["id"]?.text : nil
                }
                try await eventually("a second attempt after the restart") { receiver.count(of: event) > 1 }
                #expect(PostmasterFile(dataDirectory: scratch.path("data")) != former)
                #expect(try await service.stop() == 0)
            }
        }

        /// Ends all sessions but its own, as they end by themselves in the course of days, and waits until they have: one that is
        /// used between the signal and its end fails what it was asked, rightly.
        private func endSessions(in scratch: Scratch) async throws {
            try await scratch.ownServer.execute(
                """
                SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
                """
            )
        }
    }
}

extension WebhookReceiver {
    /// How often it was told of an event.
    fileprivate func count(of event: String) -> Int { requests.count { $0.id == event } }
}
