import CarillonCore
import NIOHTTP1
import Postgres
import Testing

extension Services {
    /// Work is due, and the database refuses to hand it out.
    @Suite struct StuckQueueTests {
        private let scratch = Scratch()

        @Test func `claims that fail while work is due are told by readiness, doctor, the log, metrics and the API`()
            async throws
        {
            let server = try await DatabaseServer.migrated(in: scratch)
            let receiver = WebhookReceiver(answering: [])
            try await receiver.whileRunning { url in
                let service = try await RunningService.start(in: scratch, environment: server.environment)
                let network = try await TestNetwork(on: service)
                _ = try await network.addEndpoint(url)
                try await server.beginEndpoints()
                try await network.begin(receiver)
                receiver.answers([Int](repeating: 503, count: 100))
                let event = try await network.accept(TestEvents.messageSent("stuck"))
                try await eventually("a first attempt") { receiver.requests.contains { $0.id == event } }

                try await server.breakClaims()
                let reason =
                    "claiming due deliveries fails: PostgreSQL: the server answered 58P01: could not load library"
                let away = try await eventually("the service being not ready") {
                    let answer = try await service.management.send(.GET, "/health/ready")
                    return answer.status == 503 ? answer : nil
                }
                #expect(away.json["detail"]?.text?.hasPrefix("work has been due for 1") == true, "\(away.text)")
                #expect(away.json["detail"]?.text?.contains(reason) == true, "\(away.text)")
                let doctor = try await doctor(of: service, server, scratch)
                #expect(doctor.contains { $0.hasPrefix("FAIL  service") && $0.contains(reason) }, "\(doctor)")
                #expect(doctor.contains { $0.hasPrefix("warn  queue") && $0.contains("work has been due for 1") })
                let shown = try await network.send(.GET, "/providers")["queue"]
                #expect(shown?["failing"]?.elements == ["claiming due deliveries"])
                #expect((shown?["oldestSeconds"]?.integer ?? 0) >= 120)
                try await eventually("readiness in the metrics") {
                    let metrics = try await service.management.send(.GET, "/metrics").text
                    return metrics.contains("\ncarillon_ready 0\n")
                        && !metrics.contains(#"carillon_queue_failures_total{step="deliveries"} 0"#)
                }
                let lines = service.program.errorText.split(separator: "\n").filter {
                    $0.contains("What is due cannot be worked on") && $0.contains("claiming due deliveries")
                }
                #expect(lines.count == 1, "the others are counted")

                receiver.answers([])
                let attempts = receiver.requests.count { $0.id == event }
                try await server.repairClaims()
                try await eventually("another attempt") { receiver.requests.count { $0.id == event } > attempts }
                try await eventually("readiness") {
                    try await service.management.send(.GET, "/health/ready").status == 200
                }
                #expect(try await network.send(.GET, "/providers")["queue"] == nil)
                #expect(service.program.errorText.contains("What is due can be worked on again"))
                #expect(try await service.stop() == 0)
                await server.stop()
            }
        }

        @Test
        func `whatever the service does with its queues by itself is counted and written when it fails`() async throws {
            let server = try await DatabaseServer.migrated(in: scratch)
            let service = try await RunningService.start(in: scratch, environment: server.environment)
            let network = try await TestNetwork(on: service)
            try await network.addMembers(["bob"])
            // Something has to wait for it, or nobody looks for changes.
            try await server.rename(["changes"], from: "", to: "_away")
            let event = try await network.accept(TestEvents.messageSent("held"))
            try await failures(of: [.changes], in: service)
            let tables = ["inbox", "deliveries", "sources", "replays"]
            try await server.rename(tables, from: "", to: "_away")
            try await failures(of: QueueStep.allCases, in: service)
            #expect(!service.logLines.contains { $0.eventID == event })

            try await server.rename(tables + ["changes"], from: "_away", to: "")
            try await eventually("the delivery") { service.logLines.contains { $0.eventID == event } }
            try await eventually("readiness") {
                try await service.management.send(.GET, "/health/ready").status == 200
            }
            #expect(try await service.stop() == 0)
            await server.stop()
        }

        /// Waits until failures of these steps are counted and in the log.
        private func failures(of steps: [QueueStep], in service: RunningService) async throws {
            for step in steps {
                try await eventually("a failure of \(step)") {
                    let metrics = try await service.management.send(.GET, "/metrics").text
                    return !metrics.contains("carillon_queue_failures_total{step=\"\(step.rawValue)\"} 0\n")
                        && service.program.errorText.split(separator: "\n").contains { line in
                            line.contains("What is due cannot be worked on") && line.contains(step.words)
                        }
                }
            }
        }

        /// What `doctor` prints beside a running service.
        private func doctor(
            of service: RunningService,
            _ server: DatabaseServer,
            _ scratch: Scratch
        ) async throws -> [Substring] {
            var environment = server.environment
            environment["CARILLON_LISTEN"] = service.open.base.replacing("http://", with: "")
            environment["CARILLON_MANAGEMENT_LISTEN"] = service.management.base.replacing("http://", with: "")
            let program = try Program(["doctor"], environment: environment, scratch: scratch)
            #expect(try await program.exitStatus() == 1)
            return program.outputText.split(separator: "\n")
        }
    }
}

extension DatabaseServer {
    /// Has each change of a delivery refused, as by a library that does not fit the server, and makes all of them due, for two
    /// minutes already.
    fileprivate func breakClaims() async throws {
        try await script(
            """
            BEGIN;
            UPDATE deliveries SET run_at = now() - interval '2 minutes';
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION 'could not load library' USING ERRCODE = '58P01'; END
            $$;
            CREATE TRIGGER refused BEFORE UPDATE ON deliveries FOR EACH ROW EXECUTE FUNCTION refuse();
            COMMIT
            """
        )
    }

    /// Gives tables other names.
    fileprivate func rename(_ tables: [String], from former: String, to new: String) async throws {
        try await withSession { session in
            for table in tables {
                let (before, after) = (table + former, table + new)
                try session.script("ALTER TABLE \(identifier: before) RENAME TO \(identifier: after)")
            }
        }
    }

    fileprivate func repairClaims() async throws {
        try await script("DROP FUNCTION refuse() CASCADE")
    }
}
