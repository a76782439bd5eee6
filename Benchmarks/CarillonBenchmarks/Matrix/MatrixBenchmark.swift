import CarillonCore
import NIOCore
import Postgres

/// Notifications of homeservers, of one device each, that are durable and sent to simulated Apple, for each second of processor time
/// and in all; with push services that answer at once, and that take their time.
struct MatrixBenchmark: Benchmark {
    /// How often each measurement is repeated.
    let rounds: Int
    /// How long each lasts.
    let seconds: Int

    private static let delay = 50
    /// Each is pushed to less often than it may be.
    private static let pushkeys = 4_000
    /// What Sygnal 0.17, which keeps nothing, answers for each second of its one core, with a push service that answers at once.
    private static let sygnal = 1_600.0
    private static let warmUpDuration = Duration.seconds(2)

    func report(in workshop: Workshop) async throws -> Report {
        var report = Report(benchmark: "matrix")
        for delay in [0, Self.delay] {
            workshop.say("matrix, answered after \(delay) ms")
            report.figures += try await figures(delay: delay, in: workshop)
        }
        report.notes = [
            "POST /_matrix/push/v1/notify as Synapse sends it, one device each, over 64 connections, to \(Self.pushkeys) pushkeys in turn;"
                + " each 200 is durable.",
            "processor time is the service's and PostgreSQL's from the first notification until the last was sent.",
            "Sygnal 0.17, which keeps nothing, answers \(Int(Self.sygnal)) for each second of its one core, and 338/s in all with a push"
                + " service that takes 50 ms.",
            "as many requests reached the push service as notifications were accepted, and all of them were accepted there.",
        ]
        return report
    }

    private func figures(delay: Int, in workshop: Workshop) async throws -> [Figure] {
        try await SimulatorProcess.withSimulator(SimulatorProcess.Options(delay: delay), in: workshop) { simulator in
            try await Cluster.withCluster(in: workshop) { cluster in
                try await ServiceUnderTest.withService(on: cluster, environment: simulator.environment) { service in
                    let network = try await TestNetwork.make("matrix", in: service)
                    try await network.store(simulator.greeting.credential(of: .apns), of: .apns, in: service)
                    try await network.bindMatrix(in: service)
                    return try await measure(delay, simulator, cluster, service)
                }
            }
        }
    }

    private func measure(
        _ delay: Int,
        _ simulator: SimulatorProcess,
        _ cluster: Cluster,
        _ service: ServiceUnderTest
    ) async throws -> [Figure] {
        let pushkeys = MatrixNotifies.pushkeys(count: Self.pushkeys)
        var results: [LoadResult] = []
        var times: [ProcessorTime] = []
        for round in 0...rounds {
            try await simulator.reset()
            try await cluster.checkpoint()
            let before = ProcessorTime.now(service, cluster)
            let plan = LoadGenerator(
                port: service.port,
                duration: round == 0 ? Self.warmUpDuration : .seconds(seconds)
            )
            let result = try await plan.post(MatrixNotifies(to: pushkeys, run: "\(delay)-\(round)"))
            _ = try await cluster.waitUntilDone()
            let time = ProcessorTime.now(service, cluster) - before
            let count = try await simulator.count()
            guard count == SimulatorProcess.Count(total: result.accepted, accepted: result.accepted) else {
                throw BenchmarkFailure(
                    "\(result.accepted) notifications were sent by \(count.total) requests, of which \(count.accepted) were accepted"
                )
            }
            if round == 0 { try await cluster.script("VACUUM ANALYZE") }
            guard round > 0 else { continue }
            results.append(result)
            times.append(time)
        }
        return figures("after \(delay) ms", results, times)
    }

    private func figures(_ name: String, _ results: [LoadResult], _ times: [ProcessorTime]) -> [Figure] {
        let perSecond = zip(results, times).map { Double($0.accepted) / max(0.01, $1.service + $1.postgres) }
        func each(_ share: KeyPath<ProcessorTime, Double>) -> Series {
            Series(zip(results, times).map { $1[keyPath: share] / Double(max(1, $0.accepted)) * 1e6 })
        }
        return [
            Figure("\(name): accepted", Series(results.map(\.rate)), "/s"),
            Figure("\(name): p50", Series(results.map { $0.latency.percentile(0.5) }), "ms"),
            Figure("\(name): p99", Series(results.map { $0.latency.percentile(0.99) }), "ms", goal: .below(20)),
            Figure("\(name): processor time, service", each(\.service), "µs"),
            Figure("\(name): processor time, PostgreSQL", each(\.postgres), "µs"),
            Figure("\(name): for each second of processor time", Series(perSecond), "/s"),
            Figure("\(name): ÷ Sygnal's", Series(perSecond.map { $0 / Self.sygnal }), goal: .atLeast(5)),
            Figure("\(name): refused with 503", count: results.reduce(0) { $0 + $1.refused }),
        ]
    }
}

extension TestNetwork {
    /// Binds the app of ``MatrixNotifies`` to the credential of ``PushService``.
    fileprivate func bindMatrix(in service: ServiceUnderTest) async throws {
        let settings: JSONValue = ["provider": "apns", "appId": .string(PushService.appID)]
        let path = path + "/faces/matrix/\(MatrixNotifies.appID)"
        _ = try await service.operator.send(.json("PUT", path, settings.serialized)).expecting(201)
    }
}
