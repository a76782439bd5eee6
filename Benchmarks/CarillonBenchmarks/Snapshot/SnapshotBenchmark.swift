import Postgres
import Subprocess

/// What rows cost that have died in the queues while somebody holds a snapshot: an idle service, second attempts, and room.
struct SnapshotBenchmark: Benchmark {
    /// How many networks have a delivery each that is due much later.
    private static let networks = 10_000
    /// The share of a core that an idle service and its sessions may take together.
    private static let idleGoal = Figure.Goal.atMost(0.05)
    /// The first wait for a second attempt is 1 s and up to a fifth more; it has to go out two seconds after that.
    private static let attemptGoal = Figure.Goal.atMost(3_200)
    /// How long nothing runs at a restart: what was due before must not be among what has become due lately.
    private static let away = Duration.seconds(5)
    /// How often a tenth of the rows passes through the queues when nobody holds a snapshot any more.
    private static let later = 3

    /// How many rows die in each queue.
    let rows: Int
    /// How long an idle service is looked at, and a quarter of how long events are posted.
    let seconds: Int

    func report(in workshop: Workshop) async throws -> Report {
        var report = Report(benchmark: "snapshot")
        report.figures = try await Cluster.withCluster(in: workshop) { cluster in
            let queues = DyingRows(cluster: cluster)
            let (figures, grown) = try await HeldSnapshot.hold(on: cluster) {
                (try await beside(queues, cluster), try await queues.bytes)
            }
            workshop.say("snapshot, rows pass through when nobody holds one any more")
            for _ in 0..<Self.later {
                for queue in ["inbox", "deliveries"] as [SQL] { try await cluster.script("VACUUM " + queue) }
                try await queues.pass(max(1, rows / 10))
            }
            let growth = Double(try await queues.bytes) / Double(grown)
            return figures + [
                Figure("both queues with their indexes", Double(grown) / 1e9, "GB"),
                Figure("the same after \(Self.later) tenths more without a snapshot ÷ that", growth, goal: .atMost(1)),
            ]
        }
        report.notes = [
            "\(rows) rows have died in each of inbox and deliveries. Idle is the share of a core that the service and its sessions take"
                + " together; PostgreSQL as a whole has autovacuum in it, which reads dead rows in vain. Second attempts run from the"
                + " 202, through an answer of 503, until the webhook has answered 204; the wait between is 1 s ± 20 %."
        ]
        return report
    }

    /// Measures in quiet, beside dead rows, and after a restart beside them.
    private func beside(_ queues: DyingRows, _ cluster: Cluster) async throws -> [Figure] {
        let arrivals = ArrivalLog()
        return try await WebhookHosts.withHosts(noting: arrivals) { port in
            let (figures, stranded) = try await arrivals.withLogLines { pipe in
                try await ServiceUnderTest.withService(
                    on: cluster,
                    output: pipe.writeEnd,
                    environment: Self.environment
                ) { service in
                    let scene = Scene(cluster: cluster, service: service, webhookPort: port, size: 1)
                    return try await beforeRestart(scene, queues, arrivals)
                }
            }
            try await Task.sleep(for: Self.away)
            return try await ServiceUnderTest.withService(on: cluster, environment: Self.environment) { service in
                let scene = Scene(cluster: cluster, service: service, webhookPort: port, size: 1)
                let idle = try await IdleCost.measure(scene, for: .seconds(seconds))
                let probe = try await stranded.value
                return figures + idle.figures("restarted", goal: nil) + [
                    Figure("restarted: 202 to second attempt, longest", probe.delivery.maximum, "ms"),
                    Figure("restarted: without a second attempt", count: probe.missing, goal: .atMost(0)),
                ]
            }
        }
    }

    private func beforeRestart(
        _ scene: Scene,
        _ queues: DyingRows,
        _ arrivals: ArrivalLog
    ) async throws -> ([Figure], Task<Probe, any Error>) {
        let workshop = scene.cluster.workshop
        let innocent = try await Innocent.move(into: scene, Innocent.Plan(path: "second"), arrivals)
        _ = try await innocent.probe("warm-up", for: .seconds(2))
        var figures = try await stage("quiet", innocent, scene)
        workshop.say("snapshot, \(rows) rows die in each queue")
        try await queues.pass(rows)
        figures += try await stage("dead rows", innocent, scene)
        // A queue of dead rows is an empty one to the planner from here on.
        try await scene.cluster.script("ANALYZE inbox; ANALYZE deliveries")
        figures += try await stage("analysed", innocent, scene)
        try await queues.wait(inNetworks: Self.networks)
        figures += try await stage("\(Self.networks) networks", innocent, scene)
        let stranded = Task { try await innocent.probe("stranded", for: .milliseconds(500)) }
        try await Task.sleep(for: .milliseconds(700))
        return (figures, stranded)
    }

    /// An idle service, and then second attempts.
    private func stage(_ name: String, _ innocent: Innocent, _ scene: Scene) async throws -> [Figure] {
        scene.cluster.workshop.say("snapshot, \(name)")
        let idle = try await IdleCost.measure(scene, for: .seconds(seconds))
        let probe = try await innocent.probe(name, for: .milliseconds(250 * seconds))
        return idle.figures(name, goal: Self.idleGoal) + [
            Figure("\(name): 202 to second attempt, median", probe.delivery.median, "ms"),
            Figure("\(name): 202 to second attempt, longest", probe.delivery.maximum, "ms", goal: Self.attemptGoal),
            Figure(
                "\(name): refused, or without a second attempt",
                count: probe.failures.count + probe.missing,
                goal: .atMost(0)
            ),
        ]
    }

    private static var environment: [Environment.Key: String] { ["CARILLON_EGRESS_ALLOW": "127.0.0.0/8"] }
}
