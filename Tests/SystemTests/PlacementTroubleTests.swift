import CarillonCore
import Foundation
import NIOHTTP1
import Postgres
import Testing

extension Services {
    /// A placement that is not what it was: newer than the service, without writes, with another time, or started anew while a network
    /// comes to it; and a replica with a list of yesterday.
    @Suite struct PlacementTroubleTests {
        private static let members = ["bob", "carl"]

        private let stage = PlacementStage()

        @Test func `a placement whose tables are of a newer release is used, and no network moves to it or from it`()
            async throws
        {
            try await stage.migrated()
            let former = try await stage.start()
            let far = try await former.network("far", in: "p2")
            let near = try await former.network("near", in: "p1")
            #expect(try await former.stop() == 0)
            try await stage.away.script(
                """
                INSERT INTO schema_migrations (version, name, checksum, applied_at)
                SELECT max(version) + 1, 'later', 'x', now() FROM schema_migrations
                """
            )
            let migrate = try Program(["migrate"], environment: stage.environment, scratch: stage.scratch)
            #expect(try await migrate.exitStatus() == 1)
            let said = migrate.outputText + migrate.errorText
            #expect(said.contains("newer than this release") && said.contains("placement p1:"), "\(said)")

            let service = try await stage.start()
            try await service.notify(far.on(service), "far-1")
            for (network, target) in [(far, "p1"), (near, "p2")] {
                let refused = try await service.move(network, to: target)
                #expect(refused.status == 409, "\(refused.text)")
                #expect(refused.json["type"]?.text?.hasSuffix("schemas-differ") == true, "\(refused.text)")
            }
            try await service.notify(near.on(service), "near-1")
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        @Test func `no network moves to a placement whose tables are of an older release, or from it`()
            async throws
        {
            try await stage.migrated()
            let service = try await stage.start()
            let far = try await service.network("far", in: "p2")
            let near = try await service.network("near", in: "p1")
            try await stage.away.script(
                "DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)"
            )
            for (network, target) in [(far, "p1"), (near, "p2")] {
                let refused = try await service.move(network, to: target)
                #expect(refused.status == 409, "\(refused.text)")
                #expect(refused.json["type"]?.text?.hasSuffix("schemas-differ") == true, "\(refused.text)")
            }
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        @Test func `a placement that accepts no writes any more is missed by its own networks alone, and says why`()
            async throws
        {
            try await stage.migrated()
            let service = try await stage.start()
            let near = try await service.network("near", in: "p1")
            let far = try await service.network("far", in: "p2")
            for network in [near, far] { try await service.notify(network, "\(network.id)-1") }
            try await stage.away.setReadOnly(true)
            try await eventually("health that says so") {
                let health = try await service.management.send(.GET, "/health/ready")
                return health.status == 200
                    && health.json["placements"]?["p2"]?.text?.contains("default_transaction_read_only") == true
            }
            let refused = try await far.post(TestEvents.messageSent("refused"))
            #expect(refused.status == 503, "\(refused.text)")
            #expect(refused.json["type"]?.text?.hasSuffix("placement-unavailable") == true, "\(refused.text)")
            for (network, target) in [(far, "p1"), (near, "p2")] {
                let unmoved = try await service.move(network, to: target)
                #expect(unmoved.status == 503, "\(unmoved.text)")
                #expect(unmoved.text.contains("default_transaction_read_only"), "\(unmoved.text)")
            }
            try await service.notify(near, "near-2")
            try await stage.away.setReadOnly(false)
            try await eventually("an event being accepted again") {
                try await far.post(TestEvents.messageSent("back")).status == 202
            }
            try await service.notify(far, "far-2")
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        @Test func `a placement whose clock is off is said to be, goes by it, and no network moves to it or from it`()
            async throws
        {
            try await stage.migrated()
            let service = try await stage.start()
            let near = try await service.network("near", in: "p1")
            let far = try await service.network("far", in: "p2")
            for network in [near, far] { try await service.notify(network, "\(network.id)-1") }
            // Whoever connects from now on is told another time.
            try await stage.away.script(
                """
                CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql STABLE
                AS $$ SELECT pg_catalog.now() + interval '1 minute' $$;
                CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
                AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 minute' $$;
                ALTER DATABASE carillon SET search_path = public, pg_catalog;
                """
            )
            try await stage.away.disconnectAll()
            try await eventually("health that says so") {
                let health = try await service.management.send(.GET, "/health/ready")
                return health.status == 200
                    && health.json["placements"]?["p2"]?.text?.contains("time server") == true
            }
            for (network, target) in [(far, "p1"), (near, "p2")] {
                let unmoved = try await service.move(network, to: target)
                #expect(unmoved.status == 503 && unmoved.text.contains("time server"), "\(unmoved.text)")
            }
            try await eventually("an event being accepted") {
                try await far.post(TestEvents.messageSent("again")).status == 202
            }
            for network in [near, far] { try await service.notify(network, "\(network.id)-2") }
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        @Test
        func `a network whose new placement is started anew while it comes there is in one of the two, with all of it`()
            async throws
        {
            try await stage.migrated()
            let service = try await stage.start()
            let network = try await service.network("moving", in: "p1")
            _ = try await service.call(.PATCH, "/v1/placements/p2", ["state": "open"])
            try await network.addMembers(Self.members)
            // Until it is started anew, nobody arrives there.
            try await stage.away.script(
                """
                DO $do$ BEGIN
                    EXECUTE format($f$
                        CREATE FUNCTION hold_arrival() RETURNS trigger LANGUAGE plpgsql AS $$
                        BEGIN
                            IF pg_postmaster_start_time() = %L THEN PERFORM pg_sleep(600); END IF;
                            RETURN NEW;
                        END
                        $$
                    $f$, pg_postmaster_start_time());
                END $do$;
                CREATE TRIGGER hold_arrival BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION hold_arrival();
                """
            )
            let load = Load()
            try await load.run(on: network, connections: 4) {
                try await eventually("events being accepted") { load.acknowledged.count > 20 }
                #expect(try await service.move(network, to: "p2").status == 202)
                try await eventually(within: .seconds(90), "the network being copied") {
                    try await service.moveStep(of: network) == "copying"
                }
                try stage.away.kill()
                try await stage.away.start()
                let end = try await eventually(within: .seconds(120), "the end of the move") {
                    let step = try await service.moveStep(of: network)
                    return ["purging", "cancelled"].first { $0 == step }
                }
                let place = try await service.call(.GET, "/v1/networks/moving").json["placement"]?.text
                #expect(place == (end == "purging" ? "p2" : "p1"))
                let count = load.acknowledged.count
                try await eventually(within: .seconds(90), "events being accepted again") {
                    load.acknowledged.count > count + 20
                }
            }
            try await expectDelivery(
                of: load.acknowledged,
                to: Self.members,
                from: [service],
                within: .seconds(90)
            )
            #expect(duplicates(from: [service]) == 0)
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        @Test
        func `a replica with an old list, which cannot ask for another, accepts nothing for a network that has left`()
            async throws
        {
            try await stage.migrated()
            let service = try await stage.start()
            let network = try await service.network("moving", in: "p2")
            try await service.notify(network, "moving-1")
            let list = stage.scratch.path("data") + "/placements.json"
            try await eventually("the list being written") {
                try String(contentsOfFile: list, encoding: .utf8).contains(#""moving""#)
            }
            let old = try String(contentsOfFile: list, encoding: .utf8)
            #expect(try await service.move(network, to: "default").status == 202)
            try await service.awaitArrival(of: network)
            try await stage.home.script("UPDATE network_moves SET remove_at = now()")
            try await eventually(within: .seconds(90), "nothing of it being left") {
                try await service.moveStep(of: network) == "done"
            }
            #expect(try await service.stop() == 0)
            try old.write(toFile: list, atomically: true, encoding: .utf8)
            await stage.home.stop()

            let replica = try await RunningService.start(in: stage.scratch, environment: stage.environment)
            let posted = try await network.on(replica).post(TestEvents.messageSent("early"))
            #expect(posted.status == 503, "\(posted.text)")
            try await stage.home.start()
            try await eventually("an event being accepted") {
                try await network.on(replica).post(TestEvents.messageSent("early")).status == 202
            }
            try await replica.notify(network.on(replica), "moving-2")
            #expect(try await replica.stop() == 0)
            await stage.stop()
        }
    }
}
