@testable import CarillonCore
@testable import CarillonStore
import CarillonTesting
import Testing

@testable import carillon

@Suite struct DatabaseMetricsTests {
    @Test func `size and certificates are as the last look found them, and each that ends is named once`() {
        let registry = MetricRegistry()
        let log = CollectedLog()
        let metrics = DatabaseMetrics(factory: registry, logger: log.logger)
        func lines() -> Set<Substring> { Set(registry.exposition().split(separator: "\n")) }
        #expect(lines().contains(#"carillon_apns_certificates{state="ended"} 0"#), "\(lines())")

        let soon = CertificateSummary.Ending(
            networkID: "acme",
            appID: "com.acme.chat",
            end: Timestamp(milliseconds: 1_795_521_600_000)
        )
        var late = soon
        late.appID = "com.acme.late"
        metrics.record(bytes: 12_345_678_901)
        metrics.record(CertificateSummary(current: 3, ending: 1, ended: 0, first: [soon]), told: [])
        #expect(
            lines().isSuperset(of: [
                "carillon_database_bytes 12345678901", #"carillon_apns_certificates{state="current"} 3"#,
                #"carillon_apns_certificates{state="ending"} 1"#, #"carillon_apns_certificates{state="ended"} 0"#,
            ]),
            "\(lines())"
        )
        metrics.record(CertificateSummary(current: 2, ending: 1, ended: 1, first: [late, soon]), told: [soon])
        #expect(lines().contains(#"carillon_apns_certificates{state="ended"} 1"#), "\(lines())")
        let told = log.lines("A certificate for APNs is to be renewed")
        #expect(told.map { $0["app"] } == ["com.acme.chat", "com.acme.late"])
        #expect(told.first?["network"] == "acme" && told.first?["ends"] == "2026-11-24T12:00:00.000Z")
    }
}

@Suite struct LaneMetricsTests {
    private let registry = MetricRegistry()

    @Test func `lanes are counted by provider and circuit, and providers without any are 0`() {
        let network: NetworkID = "acme"
        func status(_ app: String, _ circuit: LaneStatus.Circuit) -> LaneStatus {
            LaneStatus(lane: Lane(networkID: network, provider: .apns, appID: app), circuit: circuit)
        }
        let lanes = [status("a", .open), status("b", .closed), status("c", .open)]
        LaneMetrics.register(in: registry, providers: [.apns, .log]) { lanes }
        let lines = registry.exposition().split(separator: "\n").map(String.init)
        #expect(lines.contains(#"carillon_lanes{provider="apns",circuit="open"} 2"#), "\(lines)")
        #expect(lines.contains(#"carillon_lanes{provider="apns",circuit="closed"} 1"#))
        #expect(lines.contains(#"carillon_lanes{provider="log",circuit="open"} 0"#))
    }

    @Test func `lanes whose brake is on are counted by provider`() {
        let network: NetworkID = "acme"
        var braked = LaneStatus(lane: Lane(networkID: network, provider: .apns, appID: "a"), circuit: .closed)
        braked.brake = LaneStatus.Brake(since: Timestamp(milliseconds: 0), reason: "60 of 70 devices reported as gone")
        let well = LaneStatus(lane: Lane(networkID: network, provider: .apns, appID: "b"), circuit: .open)
        LaneMetrics.register(in: registry, providers: [.apns, .fcm]) { [braked] in [braked, well] }
        let lines = registry.exposition().split(separator: "\n").map(String.init)
        #expect(lines.contains(#"carillon_brakes{provider="apns"} 1"#), "\(lines)")
        #expect(lines.contains(#"carillon_brakes{provider="fcm"} 0"#))
    }
}

@Suite struct ReadinessMetricsTests {
    private let registry = MetricRegistry()

    private static func metrics(in registry: MetricRegistry) -> ReadinessMetrics {
        let state = DatabaseState()
        state.note { ($0.schemaProblem, $0.masterKeyProblem) = (nil, nil) }
        return ReadinessMetrics(Readiness([.home: state]), factory: registry, placements: [.home: registry])
    }

    @Test func `readiness and the clock are as the last look found them`() {
        let metrics = Self.metrics(in: registry)
        func lines() -> Set<Substring> { Set(registry.exposition().split(separator: "\n")) }
        let before = Timestamp(milliseconds: 10_000)
        let behind = ClockSkew(before: before, database: Timestamp(milliseconds: 10_250), after: before)

        metrics.record([
            .home: ReadinessProbe.Answer(reasons: [], skew: behind, snapshotAge: .milliseconds(1_500))
        ])
        #expect(lines().isSuperset(of: ["carillon_ready 1", "carillon_clock_skew_seconds 0.25"]), "\(lines())")
        #expect(lines().contains("carillon_oldest_snapshot_seconds 1.5"), "\(lines())")

        metrics.record([.home: ReadinessProbe.Answer(reasons: ["PostgreSQL is away"], skew: nil)])
        #expect(lines().isSuperset(of: ["carillon_ready 0", "carillon_clock_skew_seconds 0.25"]), "\(lines())")
        #expect(lines().contains("carillon_oldest_snapshot_seconds 1.5"), "\(lines())")
    }

    @Test func `of several placements each has its own, and the service is ready while one is`() {
        let p1 = PlacementName("p1") ?? .home
        let states = [PlacementName.home: DatabaseState(), p1: DatabaseState()]
        #expect(Readiness(states) { false }.problem == "the list of placements has not been read yet")
        let known = Readiness(states)
        #expect(known.problem?.contains("default: ") == true && known.problem?.contains("p1: ") == true)
        states[p1]?.note { ($0.schemaProblem, $0.masterKeyProblem) = (nil, nil) }
        #expect(known.problem == nil)
        let labelled = states.keys.map { ($0, LabelledMetrics(base: registry, labels: [("placement", $0.rawValue)])) }
        let metrics = ReadinessMetrics(
            known,
            factory: registry,
            placements: Dictionary(uniqueKeysWithValues: labelled)
        )
        let areAllWell = metrics.record([
            .home: ReadinessProbe.Answer(reasons: ["away"], skew: nil),
            p1: ReadinessProbe.Answer(reasons: [], skew: nil),
        ])
        #expect(!areAllWell)
        let lines = Set(registry.exposition().split(separator: "\n"))
        let expected: Set<Substring> = [
            "carillon_ready 1", #"carillon_placement_ready{placement="default"} 0"#,
            #"carillon_placement_ready{placement="p1"} 1"#,
        ]
        #expect(lines.isSuperset(of: expected), "\(lines)")
        known.shutsDown()
        #expect(known.problem == "the service is shutting down")
    }

    @Test func `a service that stops is not ready`() async throws {
        let looks = AsyncStream.makeStream(of: Void.self)
        let watch = ReadinessWatch(metrics: Self.metrics(in: registry)) {
            looks.continuation.yield()
            return [.home: ReadinessProbe.Answer(reasons: [], skew: nil)]
        }
        let run = Task { try await watch.run() }
        for await _ in looks.stream { break }
        run.cancel()
        try await run.value
        #expect(registry.exposition().contains("\ncarillon_ready 0\n"), "\(registry.exposition())")
    }
}
