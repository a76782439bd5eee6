import Postgres
import Subprocess

/// Measures an innocent network in quiet and beside somebody who misbehaves, with a server and a service of their own.
struct Neighbourhood: Sendable {
    /// How long each measurement takes.
    let seconds: Int
    /// How large the neighbour is.
    let size: Double

    /// Measures what the innocent network notices.
    /// - Throws: ``BenchmarkFailure`` when the service dies, and what does not start.
    func figures(beside neighbour: any Neighbour, in workshop: Workshop) async throws -> [Figure] {
        let arrivals = ArrivalLog()
        return try await Cluster.withCluster(in: workshop) { cluster in
            try await arrivals.withLogLines { pipe in
                try await WebhookHosts.withHosts(noting: arrivals) { port in
                    try await neighbour.withSurroundings {
                        try await ServiceUnderTest.withService(
                            on: cluster,
                            output: pipe.writeEnd,
                            environment: neighbour.environment.merging(["CARILLON_EGRESS_ALLOW": "127.0.0.0/8"]) { $1 },
                            launcher: neighbour.launcher
                        ) { service in
                            let scene = Scene(cluster: cluster, service: service, webhookPort: port, size: size)
                            return try await measure(neighbour, scene, arrivals)
                        }
                    }
                }
            }
        }
    }

    private func measure(_ neighbour: any Neighbour, _ scene: Scene, _ arrivals: ArrivalLog) async throws -> [Figure] {
        let innocent = try await Innocent.move(into: scene, neighbour.innocent, arrivals)
        let network = try await scene.makeNetwork("neighbour")
        try await neighbour.prepare(network, scene)
        try await scene.cluster.checkpoint()
        _ = try await innocent.probe("warm-up", for: .seconds(2))
        let quiet = try await innocent.probe("quiet", for: .seconds(seconds))
        let watch = StatementWatch(cluster: scene.cluster)
        let duration = Duration.seconds(seconds)
        let loaded = try await withThrowingTaskGroup(of: Probe?.self) { group in
            group.addTask {
                try await neighbour.misbehave(network, scene)
                return nil
            }
            group.addTask { try await watch.run() }
            group.addTask {
                try await Task.sleep(for: neighbour.headStart)
                let before = ProcessorTime.now(scene.service, scene.cluster)
                var probe = try await innocent.probe("loaded", for: duration)
                probe.used = ProcessorTime.now(scene.service, scene.cluster) - before
                return probe
            }
            defer { group.cancelAll() }
            while let probe = try await group.next() {
                if let probe { return probe }
            }
            throw CancellationError()
        }
        guard scene.service.process.isRunning else { throw BenchmarkFailure("the service died") }
        var figures = Probe.figures(quiet: quiet, loaded: loaded, promise: neighbour.promise)
        figures.append(Figure("longest statement", watch.longest, "s"))
        let memory = Double(try scene.service.process.peakResidentBytes) / 1e6
        figures.append(Figure("resident memory, peak", memory, "MB"))
        return figures + (try await neighbour.figures(scene))
    }
}
