import ArgumentParser

/// Something that can be measured.
protocol Benchmark: Sendable {
    /// Measures.
    /// - Throws: What prevents a result, ``BenchmarkFailure`` when the service did not do its work right.
    func report(in workshop: Workshop) async throws -> Report
}

/// The benchmarks by the names that they have on the command line.
enum BenchmarkName: String, CaseIterable, ExpressibleByArgument {
    case ingest
    case fanout
    case direct
    case latency
    case relay
    case intercept
    case mixed
    case evaluate
    case render
    case pushAPNs = "push-apns"
    case pushFCM = "push-fcm"
    case pushWebPush = "push-webpush"
    case slowProvider = "slow-provider"
    case chat
    case neighbours
    case matrix
    case snapshot
    case counts
    case growth
    case cpu

    /// All names.
    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// The benchmark.
    func benchmark(scale: Scale) -> any Benchmark {
        switch self {
        case .ingest: IngestBenchmark(rounds: scale.rounds, seconds: scale.seconds ?? 10)
        case .fanout: FanoutBenchmark(rounds: scale.rounds, members: scale.members)
        case .direct: FanoutBenchmark(rounds: scale.rounds, members: scale.members, measuresDirect: true)
        case .latency: LatencyBenchmark(events: scale.samples)
        case .relay: RelayBenchmark(rounds: scale.rounds, seconds: scale.seconds ?? 60)
        case .intercept: InterceptBenchmark(events: scale.samples)
        case .mixed: MixedBenchmark(seconds: scale.seconds ?? 60)
        case .evaluate: EvaluateBenchmark(rounds: max(5, scale.rounds))
        case .render: RenderBenchmark(rounds: max(5, scale.rounds))
        case .pushAPNs: push(.apns, scale)
        case .pushFCM: push(.fcm, scale)
        case .pushWebPush: push(.webPush, scale)
        case .slowProvider: SlowProviderBenchmark(rounds: max(10, scale.rounds), devices: scale.devices)
        case .chat: ChatBenchmark(seconds: scale.seconds ?? 15)
        case .matrix: MatrixBenchmark(rounds: scale.rounds, seconds: scale.seconds ?? 10)
        case .growth:
            GrowthBenchmark(
                seconds: scale.seconds ?? 15,
                idleSeconds: scale.idleSeconds,
                onlyReplicas: scale.onlyReplicas
            )
        case .counts: CountsBenchmark(seconds: scale.seconds ?? 5, onlyLimits: scale.onlyLimits)
        case .cpu:
            CPUBenchmark(
                rounds: scale.rounds,
                seconds: scale.seconds ?? 5,
                connections: scale.connections.isEmpty ? CPUBenchmark.usualConnections : scale.connections,
                other: scale.against
            )
        case .snapshot: SnapshotBenchmark(rows: scale.rows, seconds: scale.seconds ?? 60)
        case .neighbours: NeighboursBenchmark(names: scale.chosen, seconds: scale.seconds ?? 15, size: scale.size)
        }
    }

    private func push(_ service: PushService, _ scale: Scale) -> PushBenchmark {
        PushBenchmark(service: service, name: rawValue, rounds: max(5, scale.rounds), devices: scale.devices)
    }
}

/// How much is measured.
struct Scale: ParsableArguments, Sendable {
    @Option(help: "How often each measurement is repeated, its yardstick in between; the median counts.")
    var rounds = 3

    @Option(
        help:
            "How long each load lasts: 10 for ingest and matrix, 60 for mixed, relay and snapshot, 5 for counts and cpu, 15 for chat, growth and neighbours, unless given."
    )
    var seconds: Int?

    @Option(help: "The members of fanout's and direct's channel.")
    var members = 100_000

    @Option(help: "The devices of one event in push-apns, push-fcm, push-webpush and slow-provider.")
    var devices = 10_000

    @Option(help: "The events of latency and intercept.")
    var samples = 200

    @Option(help: "The rows that die in each queue of snapshot.")
    var rows = 10_000_000

    @Option(help: "How long growth looks at a service that has nothing to do.")
    var idleSeconds = 60

    @Flag(help: "Have growth measure nothing but how much replicas help that nobody posts to.")
    var onlyReplicas = false

    @Flag(help: "Have counts count nothing but what has limits.")
    var onlyLimits = false

    @Option(help: "Over how many connections cpu posts, repeatable: 1, 8, 64 and 256, unless given.")
    var connections: [Int] = []

    @Option(help: "Another build of carillon, which cpu measures beside the first in the same rounds.")
    var against: String?

    @Option(help: "A neighbour to measure, repeatable: \(NeighbourName.list); all of them, unless given.")
    var neighbour: [NeighbourName] = []

    @Option(help: "How large neighbours are, as a share of the documentation's table.")
    var size = 1.0

    /// The neighbours to measure.
    var chosen: [NeighbourName] { neighbour.isEmpty ? NeighbourName.allCases : neighbour }

    func validate() throws {
        guard (1...100).contains(rounds) else { throw ValidationError("--rounds must be 1 to 100") }
        guard (1...3600).contains(seconds ?? 1) else { throw ValidationError("--seconds must be 1 to 3600") }
        guard (1...3600).contains(idleSeconds) else { throw ValidationError("--idle-seconds must be 1 to 3600") }
        guard (100...1_000_000).contains(members) else { throw ValidationError("--members must be 100 to 1000000") }
        guard (100...100_000).contains(devices) else { throw ValidationError("--devices must be 100 to 100000") }
        guard (10...10_000).contains(samples) else { throw ValidationError("--samples must be 10 to 10000") }
        guard (1_000...100_000_000).contains(rows) else { throw ValidationError("--rows must be 1000 to 100000000") }
        guard connections.allSatisfy((1...1_000).contains), Set(connections).count == connections.count else {
            throw ValidationError("--connections must be 1 to 1000, each number once")
        }
        guard (0.001...1).contains(size) else { throw ValidationError("--size must be 0.001 to 1") }
    }
}
