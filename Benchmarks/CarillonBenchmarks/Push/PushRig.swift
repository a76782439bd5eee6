import CarillonCore
import NIOCore
import Postgres

/// A service that sends to simulated push services, with a network that has credentials and devices.
struct PushRig: Sendable {
    /// The network's id.
    static let networkID = "push"

    /// The database.
    let cluster: Cluster
    /// The push services.
    let simulator: SimulatorProcess
    /// Carillon.
    let service: ServiceUnderTest
    /// The network.
    let network: TestNetwork
    /// Who and what is in it.
    let directory: PushDirectory

    /// Lends a service with one channel in which everybody has a device of one push service, which answers after `delay`
    /// milliseconds.
    static func withCrowd<Value: Sendable>(
        of devices: Int,
        of service: PushService,
        delay: Int = 0,
        in workshop: Workshop,
        _ body: (PushRig) async throws -> Value
    ) async throws -> Value {
        var options = SimulatorProcess.Options(delay: delay)
        if case .webPush = service { options.subscriptions = devices }
        return try await withRig(
            options,
            services: [service],
            directory: { .crowd(of: service.addresses(count: devices, from: $0)) },
            in: workshop,
            body
        )
    }

    /// Sets everything up, with the credentials of `services`, and lends it; afterwards all is stopped.
    static func withRig<Value: Sendable>(
        _ options: SimulatorProcess.Options,
        services: [PushService],
        directory: (SimulatorProcess) -> PushDirectory,
        in workshop: Workshop,
        _ body: (PushRig) async throws -> Value
    ) async throws -> Value {
        try await SimulatorProcess.withSimulator(options, in: workshop) { simulator in
            let directory = directory(simulator)
            return try await Cluster.withCluster(in: workshop) { cluster in
                try await ServiceUnderTest.withService(on: cluster, environment: simulator.environment) { service in
                    let network = try await TestNetwork.make(networkID, in: service)
                    for pushService in services {
                        let credential = simulator.greeting.credential(of: pushService)
                        try await network.store(credential, of: pushService, in: service)
                    }
                    _ = try await network.fill(with: directory, in: service)
                    try await cluster.script("VACUUM ANALYZE")
                    let rig = PushRig(
                        cluster: cluster,
                        simulator: simulator,
                        service: service,
                        network: network,
                        directory: directory
                    )
                    return try await body(rig)
                }
            }
        }
    }
}

/// Messages to everybody in a large channel, one after the other.
struct PushMessages: Sendable {
    /// What one of them took.
    struct Sending: Sendable {
        /// From before the event was posted until it was done.
        let seconds: Double
        /// The processor time of generator, service and PostgreSQL.
        let processorTime: ProcessorTime
        /// The processor time of the simulator.
        let simulatorSeconds: Double
        /// What the simulator read.
        let readBytes: Int
    }

    private let rig: PushRig
    private let deviceCount: Int
    private var request: FollowedEvent
    /// What all of them say.
    let text: String

    init(_ rig: PushRig) {
        self.rig = rig
        deviceCount = rig.directory.devices.count
        let events = SignedEvents(to: rig.network, in: rig.directory.shape, senders: 1, run: "message")
        text = events.text
        request = FollowedEvent(
            events: events,
            client: HTTPClient(port: rig.service.port),
            network: rig.network
        )
    }

    /// Posts a message, waits until it is done, and checks that each device got it exactly once.
    ///
    /// As each device's delivery was written down, which takes an accepted request, and there were as many requests as
    /// devices, no device got two.
    mutating func send() async throws -> Sending {
        try await rig.cluster.checkpoint()
        try await rig.simulator.reset()
        let before = ProcessorTime.now(rig.service, rig.cluster)
        let simulatorBefore = rig.simulator.process.processorSeconds
        let readBefore = try rig.simulator.process.readBytes
        let start = NIODeadline.now()
        _ = try await request.post()
        let end = try await request.done(after: start, notifying: deviceCount)
        let sending = Sending(
            seconds: Double((end - start).nanoseconds) / 1e9,
            processorTime: ProcessorTime.now(rig.service, rig.cluster) - before,
            simulatorSeconds: rig.simulator.process.processorSeconds - simulatorBefore,
            readBytes: try rig.simulator.process.readBytes - readBefore
        )
        let count = try await rig.simulator.count()
        guard count == SimulatorProcess.Count(total: deviceCount, accepted: deviceCount) else {
            throw BenchmarkFailure(
                "\(deviceCount) devices were notified by \(count.total) requests, of which \(count.accepted) were accepted"
            )
        }
        return sending
    }
}
