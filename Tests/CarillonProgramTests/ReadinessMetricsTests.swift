import CarillonCore
import CarillonStore
import Testing

@testable import carillon

@Suite struct ReadinessMetricsTests {
    @Test func `readiness and the clock are as the last look found them`() {
        let registry = MetricRegistry()
        let metrics = ReadinessMetrics(factory: registry)
        func lines() -> Set<Substring> { Set(registry.exposition().split(separator: "\n")) }
        let before = Timestamp(milliseconds: 10_000)
        let behind = ClockSkew(before: before, database: Timestamp(milliseconds: 10_250), after: before)

        metrics.record(ReadinessProbe.Answer(reasons: [], skew: behind, snapshotAge: .milliseconds(1_500)))
        #expect(lines().isSuperset(of: ["carillon_ready 1", "carillon_clock_skew_seconds 0.25"]), "\(lines())")
        #expect(lines().contains("carillon_oldest_snapshot_seconds 1.5"), "\(lines())")

        metrics.record(ReadinessProbe.Answer(reasons: ["PostgreSQL is away"], skew: nil))
        #expect(lines().isSuperset(of: ["carillon_ready 0", "carillon_clock_skew_seconds 0.25"]), "\(lines())")
        #expect(lines().contains("carillon_oldest_snapshot_seconds 1.5"), "\(lines())")
    }

    @Test func `a service that stops is not ready`() async throws {
        let registry = MetricRegistry()
        let looks = AsyncStream.makeStream(of: Void.self)
        let watch = ReadinessWatch(metrics: ReadinessMetrics(factory: registry)) {
            looks.continuation.yield()
            return ReadinessProbe.Answer(reasons: [], skew: nil)
        }
        let run = Task { try await watch.run() }
        for await _ in looks.stream { break }
        run.cancel()
        try await run.value
        #expect(registry.exposition().contains("\ncarillon_ready 0\n"), "\(registry.exposition())")
    }
}
