import Subprocess

/// Somebody who misbehaves beside an innocent network.
protocol Neighbour: Sendable {
    /// A program that starts the service, with its arguments: `prlimit --nofile=256:256`, for example.
    var launcher: [String] { get }
    /// Settings of the service besides the usual ones; asked for when the surroundings are there.
    var environment: [Environment.Key: String] { get }
    /// Where the innocent network's devices are, and how its receivers behave.
    var innocent: Innocent.Plan { get }
    /// How long the neighbour misbehaves before the innocent network is measured.
    var headStart: Duration { get }
    /// What is promised of the innocent network's deliveries.
    var promise: Promise { get }

    /// Lends what has to be there before the service starts.
    func withSurroundings<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value

    /// Gets ready, before the innocent network is measured in quiet; the neighbour's own network is empty.
    func prepare(_ network: TestNetwork, _ scene: Scene) async throws

    /// Misbehaves until it is cancelled.
    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws

    /// What else there is to say in the end.
    func figures(_ scene: Scene) async throws -> [Figure]
}

extension Neighbour {
    var launcher: [String] { [] }
    var environment: [Environment.Key: String] { [:] }
    var innocent: Innocent.Plan { Innocent.Plan() }
    var headStart: Duration { .seconds(2) }
    var promise: Promise { Promise(factor: 3, extra: 0.2) }

    func withSurroundings<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await body()
    }

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {}

    func figures(_ scene: Scene) async throws -> [Figure] { [] }
}

/// How much later the innocent network's p99s may be than in quiet.
struct Promise: Sendable {
    /// A multiple of what it is in quiet, of deliveries.
    let factor: Double
    /// Seconds on top.
    let extra: Double
    /// A multiple of what it is in quiet, of accepting.
    var accepting = 3.0

    /// The latest p99 that keeps the promise, in milliseconds.
    func limit(quiet: Double) -> Double { factor * quiet + extra * 1000 }
}

/// Where neighbours meet.
struct Scene: Sendable {
    /// The database.
    let cluster: Cluster
    /// The service, which may be dead.
    let service: ServiceUnderTest
    /// The port of all webhooks, on each address of this machine.
    let webhookPort: Int
    /// How large the neighbours are: 1 is the size of the documentation's table.
    let size: Double

    /// A number of the documentation's table at this size.
    func scaled(_ number: Int) -> Int { max(1, Int(Double(number) * size)) }

    /// Makes a network, with room for what it does where the service has limits.
    func makeNetwork(_ name: String) async throws -> TestNetwork {
        let network = try await TestNetwork.make(name, in: service)
        let limits = #"{"limits":{"webhookHosts":100000,"channelsPerUser":100000}}"#
        // What has no such limits refuses to have them set.
        _ = try await service.operator.send(.json("PATCH", network.path, Array(limits.utf8)))
        return network
    }
}
