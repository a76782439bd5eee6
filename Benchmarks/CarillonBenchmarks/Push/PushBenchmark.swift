import AsyncHTTPClient
import CarillonCore

/// How many notifications a second reach a push service through the whole pipeline, as a share of the requests a second
/// that AsyncHTTPClient by itself gets answered by the same server.
struct PushBenchmark: Benchmark {
    /// The push service.
    let service: PushService
    /// The benchmark's name.
    let name: String
    /// How often each measurement is repeated.
    let rounds: Int
    /// How many devices the event goes to.
    let devices: Int

    func report(in workshop: Workshop) async throws -> Report {
        try await PushRig.withCrowd(of: devices, of: service, in: workshop) { rig in
            try await BareClient.withClient(trusting: rig.simulator.greeting.certificateAuthorityFile) { client in
                try await measure(rig, client)
            }
        }
    }

    private func measure(_ rig: PushRig, _ client: BareClient) async throws -> Report {
        var messages = PushMessages(rig)
        let addresses = rig.directory.devices.map(\.address)
        let bare = BareRequests(simulator: rig.simulator, text: messages.text)
        let requests = try await bare.make(for: service, to: addresses, with: client)
        let encryption = BareEncryption(plaintext: bare.webPushPlaintext, addresses: addresses)
        rig.cluster.workshop.say("\(name), warming up")
        if let first = requests.first { _ = try await client.send(first) }
        _ = try await client.seconds(of: requests)
        _ = try await messages.send()
        var yardsticks: [BareRound] = []
        var sendings: [PushMessages.Sending] = []
        var encryptions = Series()
        for round in 1...rounds {
            rig.cluster.workshop.say("\(name), round \(round) of \(rounds)")
            yardsticks.append(try await BareRound(of: requests, by: client, rig))
            if !encryption.keys.isEmpty { encryptions.append(try await encryption.perSecond()) }
            sendings.append(try await messages.send())
        }
        var report = Report(benchmark: name)
        let count = Double(devices)
        let whole = Series(sendings.map { count / $0.seconds })
        let yardstick = Series(yardsticks.map { count / $0.seconds })
        report.figures = [
            Figure("bare requests", yardstick, "/s"),
            Figure("notifications", whole, "/s"),
            Figure("notifications ÷ bare requests", whole.median / yardstick.median, goal: .atLeast(0.6)),
        ]
        if encryptions.count > 0 {
            report.figures += [
                Figure("bare encryptions, all processors", encryptions, "/s"),
                Figure("notifications ÷ bare encryptions", whole.median / encryptions.median),
            ]
        }
        report.figures += costs(sendings, yardsticks)
        let memory = try rig.service.process.peakResidentBytes
        report.figures.append(Figure("resident memory", Double(memory) / 1e6, "MB"))
        report.notes = notes
        return report
    }

    /// What a notification and a bare request cost each process.
    private func costs(_ sendings: [PushMessages.Sending], _ yardsticks: [BareRound]) -> [Figure] {
        let count = Double(devices)
        func each(_ seconds: [Double]) -> Double { Series(seconds).median / count * 1e6 }
        return [
            Figure("processor time, service", each(sendings.map(\.processorTime.service)), "µs"),
            Figure("processor time, PostgreSQL", each(sendings.map(\.processorTime.postgres)), "µs"),
            Figure("processor time, simulator", each(sendings.map(\.simulatorSeconds)), "µs"),
            Figure("processor time, bare client", each(yardsticks.map(\.clientSeconds)), "µs"),
            Figure("processor time, simulator, bare", each(yardsticks.map(\.simulatorSeconds)), "µs"),
            Figure("read by the simulator", Series(sendings.map { Double($0.readBytes) / count }).median, "B"),
            Figure("read by the simulator, bare", Series(yardsticks.map { Double($0.readBytes) / count }).median, "B"),
        ]
    }

    private var notes: [String] {
        [
            "one message to \(devices) devices, from its POST to done; \(BareClient.concurrency) bare requests of the same"
                + " size are on their way at a time, from another process to the same simulator.",
            "processor times and bytes are for one notification or bare request.",
            "each notification arrived exactly once: as many requests as devices, and each device's delivery was recorded.",
        ]
    }
}

/// The yardstick, taken once.
private struct BareRound: Sendable {
    let seconds: Double
    let clientSeconds: Double
    let simulatorSeconds: Double
    let readBytes: Int

    init(of requests: [HTTPClientRequest], by client: BareClient, _ rig: PushRig) async throws {
        try await rig.cluster.checkpoint()
        let simulator = rig.simulator.process
        let before = (ProcessorTime.now(rig.service, rig.cluster), simulator.processorSeconds, try simulator.readBytes)
        seconds = try await client.seconds(of: requests)
        clientSeconds = (ProcessorTime.now(rig.service, rig.cluster) - before.0).generator
        simulatorSeconds = simulator.processorSeconds - before.1
        readBytes = try simulator.readBytes - before.2
    }
}
