import CarillonCore
import Foundation
import NIOHTTP1
import Postgres
import Testing

extension Services {
    /// Networks that move from one placement to another.
    @Suite struct MoveTests {
        private static let members = ["bob", "carl"]

        private let stage = PlacementStage()

        private func carillon(_ arguments: String...) async throws -> (status: Int32, output: String) {
            let program = try Program(
                ["network", "move"] + arguments,
                environment: stage.environment,
                scratch: stage.scratch
            )
            let status = try await program.exitStatus(within: .seconds(90))
            return (status, program.outputText + program.errorText)
        }

        @Test
        func `a network moves under load, beside a replica that sleeps through it, and nothing is lost or comes twice`()
            async throws
        {
            try await stage.migrated()
            let one = try await stage.start()
            let two = try await stage.start()
            let moving = try await one.network("moving", in: "p1")
            let staying = try await one.network("staying", in: "p1")
            for network in [moving, staying] { try await network.addMembers(Self.members) }
            let (load, beside) = (Load(), Load())
            try await load.run(on: [moving, moving.on(two)], connections: 4) {
                try await beside.run(on: staying, connections: 2) {
                    // What it has in hand is waited for as long as it is leased.
                    two.program.send(SIGSTOP)
                    defer { two.program.send(SIGCONT) }
                    for target in ["p2", "default"] {
                        let answer = try await one.move(moving, to: target)
                        #expect(answer.status == 202, "\(answer.text)")
                        if target == "p2" { try await endLeasesOfSleeper(in: moving, on: one) }
                        try await one.awaitArrival(of: moving)
                        // What it meant to write meets the fence.
                        two.program.send(SIGCONT)
                        let count = load.acknowledged.count
                        try await eventually("events being accepted again") { load.acknowledged.count > count + 20 }
                    }
                }
            }
            #expect(beside.refused == 0, "who stays where they are notices nothing")
            for load in [load, beside] {
                try await expectDelivery(
                    of: load.acknowledged,
                    to: Self.members,
                    from: [one, two],
                    within: .seconds(90)
                )
            }
            // But for what was on its way to the provider when its replica fell asleep (P3).
            #expect(duplicates(from: [one, two]) <= 64)
            // Members that events have brought are members in each placement.
            let shown = try await one.call(.GET, "/v1/networks/moving")
            #expect(shown.json["placement"]?.text == "default")
            // Whoever comes first goes on with a move.
            var moves = 0
            for service in [one, two] {
                let metrics = try await service.management.send(.GET, "/metrics").text.split(separator: "\n")
                let line = metrics.first { $0.hasPrefix(#"carillon_network_moves_total{result="done"}"#) }
                moves += line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
            }
            #expect(moves == 2)
            #expect(try await one.stop() == 0)
            #expect(try await two.stop() == 0)
            await stage.stop()
        }

        /// Lets the minute pass for which what a sleeping replica has in hand is leased to it, once the others have done theirs.
        private func endLeasesOfSleeper(in network: TestNetwork, on service: RunningService) async throws {
            var (former, looks) = (Int?.none, 0)
            try await eventually("what others have in hand being done") {
                guard try await service.moveStep(of: network) == "draining" else { return true }
                let held = try await stage.home.first(
                    """
                    SELECT (SELECT count(*) FROM p1.inbox WHERE network_id = 'moving' AND leased)
                        + (SELECT count(*) FROM p1.deliveries WHERE network_id = 'moving' AND leased)
                    """,
                    as: Int.self
                )
                looks = held == former ? looks + 1 : 0
                former = held
                try await Task.sleep(for: .seconds(1))
                return looks == 3
            }
            try await stage.home.script(
                """
                SET carillon.mover = 'on';
                -- A transaction of the sleeper may be open, which the server ends after ten seconds.
                SET lock_timeout = '12s';
                UPDATE p1.inbox SET run_at = now() WHERE network_id = 'moving' AND leased;
                UPDATE p1.deliveries SET run_at = now() WHERE network_id = 'moving' AND leased
                """
            )
        }

        @Test func `another replica goes on with a move whose replica was killed`() async throws {
            try await stage.migrated()
            let one = try await stage.start()
            let two = try await stage.start()
            let network = try await one.network("moving", in: "p2")
            try await network.addMembers(Self.members)
            // Held by nobody who would let go: the move waits.
            _ = try await network.accept(TestEvents.messageSent("before"))
            try await stage.away.script(
                """
                INSERT INTO deliveries (network_id, group_id, event_id, provider, app_id, cause, locale, title, body, targets,
                                        size, attempt, run_at, expires_at, leased)
                VALUES ('moving', gen_random_uuid(), gen_random_uuid(), 'log', '', '{}', 'en', '', '', '[]',
                        0, 0, now() + interval '60 seconds', now() + interval '1 hour', true)
                """
            )
            // Its lane has no credential, which both placements know in the end.
            let device: JSONValue = ["userId": "bob", "provider": "fcm", "appId": "app", "token": "t"]
            try await network.send(.PUT, "/devices/phone", device)
            _ = try await network.accept(TestEvents.messageSent("unsent"))
            try await awaitOpenLane(of: network, on: two)
            #expect(try await one.move(network, to: "default").status == 202)
            try await eventually("the network being drained") {
                try await two.call(.PUT, "/v1/networks/moving/users/carl", [:]).status == 503
            }
            one.program.kill()
            // The twenty seconds for which it had the move are over.
            try await stage.home.script("UPDATE network_moves SET held_until = now()")
            try await stage.away.script(
                """
                SET carillon.mover = 'on';
                DELETE FROM deliveries WHERE cause = '{}'
                """
            )
            try await two.awaitArrival(of: network)
            // The new placement finds out by what is to be sent there.
            let later = try await network.on(two).accept(TestEvents.messageSent("unsent too"))
            try await eventually("a delivery that waits for a credential") {
                let path = "/v1/networks/moving/events/\(later)/deliveries"
                let items = try await two.call(.GET, path).json["items"]?.elements ?? []
                return items.contains { $0["reason"]?.text?.contains("no credential") == true }
            }
            try await awaitOpenLane(of: network, on: two)
            try await two.notify(network.on(two), "moving-after")
            #expect(try await two.stop() == 0)
            await stage.stop()
        }

        /// Waits for the network's only lane without a credential to be shown as open, which it is once wherever it is.
        private func awaitOpenLane(of network: TestNetwork, on service: RunningService) async throws {
            try await eventually("one lane that is open") {
                let lanes = try await service.call(.GET, "/v1/networks/\(network.id)/providers").json["items"]?.elements
                let ofApp = lanes?.filter { $0["appId"]?.text == "app" }
                return ofApp?.map { $0["circuit"]?.text } == ["open"]
            }
        }

        @Test func `toggles go along, nothing is changed meanwhile, and it may stay after all`() async throws {
            try await stage.migrated()
            let service = try await stage.start()
            let network = try await service.network("moving", in: "p2")
            try await service.notify(network, "moving-1")
            func status(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> UInt {
                try await service.call(method, path, body).status
            }
            #expect(try await status(.GET, "/v1/networks/moving/move") == 404)
            #expect(try await status(.DELETE, "/v1/networks/moving/move") == 404)
            #expect(try await status(.POST, "/v1/networks/nobody/move", ["to": "p1"]) == 404)
            #expect(try await status(.POST, "/v1/networks/moving/move", ["to": "p9"]) == 400)
            #expect(try await status(.POST, "/v1/networks/moving/move", ["to": "P1"]) == 400)
            #expect(try await status(.POST, "/v1/networks/moving/move", [:]) == 400)
            #expect(try await status(.POST, "/v1/networks/moving/move", ["to": "p2"]) == 200)
            // Somebody holds something for a minute: so long it drains.
            try await stage.away.script(
                """
                INSERT INTO inbox (network_id, event_id, source_id, event_type, received_at, occurred_at, body, run_at, leased)
                VALUES ('moving', gen_random_uuid(), 'held', 'message.sent', now(), now(), '{}', now() + interval '1 minute', true)
                """
            )
            #expect(try await service.move(network, to: "p1").status == 202)
            try await eventually("the network being drained") {
                try await status(.PUT, "/v1/networks/moving/users/carl", [:]) == 503
            }
            let refused = try await network.post(TestEvents.messageSent("refused"))
            #expect(
                refused.status == 503 && refused.json["type"]?.text?.hasSuffix("network-moving") == true,
                "\(refused.text)"
            )
            #expect(refused.headers.first(name: "retry-after") == "2")
            #expect(try await service.move(network, to: "default").status == 409)
            #expect(try await status(.DELETE, "/v1/networks/moving") == 503)
            #expect(try await status(.GET, "/v1/networks/moving/users/bob") == 200)
            #expect(try await service.call(.GET, "/v1/networks").json["items"]?.elements.count == 1)
            #expect(try await status(.DELETE, "/v1/networks/moving/move") == 202)
            try await eventually("the network being where it was") {
                try await service.moveStep(of: network) == "cancelled"
            }
            // The service hears of it a moment later.
            try await eventually("the network taking changes again") {
                try await status(.PUT, "/v1/networks/moving/users/carl", [:]) != 503
            }
            try await network.send(.PUT, "/notifications", ["enabled": false])
            try await stage.away.script("DELETE FROM inbox WHERE source_id = 'held'")
            #expect(try await service.move(network, to: "p1").status == 202)
            try await service.awaitArrival(of: network)
            let silent = try await network.accept(TestEvents.messageSent("silent"))
            _ = try await network.done(silent)
            #expect(!service.logLines.contains { $0.eventID == silent })
            // What was accepted before the move is known after it.
            let again = try await network.post(TestEvents.messageSent("moving-1"))
            #expect(again.json["status"]?.text == "duplicate", "\(again.text)")
            #expect(try await status(.DELETE, "/v1/networks/moving") == 204)
            #expect(try await status(.GET, "/v1/networks/moving") == 404)
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        @Test func `the command moves a network without a service, and beside one`() async throws {
            try await stage.migrated()
            let service = try await stage.start()
            let network = try await service.network("moving", in: "p1")
            try await service.notify(network, "moving-1")
            let counted = try await carillon("moving", "--to", "p2", "--dry-run")
            #expect(counted.status == 0 && counted.output.contains("rows in placement p1"), "\(counted.output)")
            #expect(try await service.moveStep(of: network) == nil)
            let moved = try await carillon("moving", "--to", "p2")
            #expect(moved.status == 0 && moved.output.contains("is in placement p2"), "\(moved.output)")
            // A running service hears of it, within a second.
            try await eventually("the network being changed") {
                try await service.call(.PUT, "/v1/networks/moving/users/carl", [:]).status < 300
            }
            try await service.notify(network, "moving-2")
            #expect(try await service.stop() == 0)

            let back = try await carillon("moving", "--to", "default")
            #expect(back.status == 0, "\(back.output)")
            let there = try await carillon("moving", "--to", "default")
            #expect(there.status == 0 && there.output.contains("already"), "\(there.output)")
            for refused in [["nobody", "--to", "p1"], ["moving", "--to", "p9"], ["moving", "--cancel"], ["moving"]] {
                let program = try Program(
                    ["network", "move"] + refused,
                    environment: stage.environment,
                    scratch: stage.scratch
                )
                #expect(try await program.exitStatus() != 0, "\(refused)")
            }
            let resumed = try await carillon("moving", "--resume")
            #expect(resumed.status == 0, "\(resumed.output)")
            let second = try await stage.start()
            try await second.notify(network.on(second), "moving-3")
            #expect(try await second.stop() == 0)
            await stage.stop()
        }
    }
}
