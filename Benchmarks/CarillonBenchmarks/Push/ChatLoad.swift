import CarillonCore
import Foundation
import NIOCore
import Postgres

/// Loads the service with messages and finds out what became of each.
struct ChatLoad: Sendable {
    /// One load.
    struct Stage: Sendable {
        /// What the ids of its events begin with.
        let run: String
        /// What was answered.
        let load: LoadResult
        /// From the first event until all was done.
        let seconds: Double
        /// How many notifications arrived.
        let notifications: Int
        /// The processor time of generator, service and PostgreSQL.
        let processorTime: ProcessorTime
        /// The processor time of the simulator.
        let simulatorSeconds: Double

        var eventsPerSecond: Double { Double(load.accepted) / seconds }
        var notificationsPerSecond: Double { Double(notifications) / seconds }
        var notificationsPerProcessorSecond: Double { Double(notifications) / processorTime.service }

        /// Of a time in seconds the share of a notification, in microseconds.
        func each(_ seconds: Double) -> Double { seconds / Double(max(1, notifications)) * 1e6 }
    }

    private let rig: PushRig
    private let devices: [Int: [DeviceID]]
    private var stages: [Stage] = []

    init(_ rig: PushRig) {
        self.rig = rig
        devices = Dictionary(grouping: rig.directory.devices, by: \.user).mapValues { devices in
            devices.map { DeviceID(trusted: $0.id) }
        }
    }

    /// Posts events, and then waits until the service has nothing left to do.
    mutating func post(at pace: LoadGenerator.Pace, for duration: Duration) async throws -> Stage {
        let run = "stage\(stages.count + 1)"
        var generator = LoadGenerator(port: rig.service.port, pace: pace, duration: duration)
        generator.remembersAcceptance = true
        try await rig.cluster.checkpoint()
        let before = ProcessorTime.now(rig.service, rig.cluster)
        let simulatorBefore = rig.simulator.process.processorSeconds
        let acceptedBefore = try await rig.simulator.count().accepted
        let start = ContinuousClock.now
        let load = try await generator.post(events(run))
        _ = try await rig.cluster.waitUntilDone()
        let stage = Stage(
            run: run,
            load: load,
            seconds: (ContinuousClock.now - start) / .seconds(1),
            notifications: try await rig.simulator.count().accepted - acceptedBefore,
            processorTime: ProcessorTime.now(rig.service, rig.cluster) - before,
            simulatorSeconds: rig.simulator.process.processorSeconds - simulatorBefore
        )
        stages.append(stage)
        return stage
    }

    /// Checks that every notification of every event arrived exactly once, and nothing else.
    ///
    /// - Returns: For each stage how long the notifications took, from the 202 to the simulator.
    /// - Throws: ``BenchmarkFailure`` when something was lost or came twice.
    func verify() async throws -> [String: LatencyHistogram] {
        let expected = try await expectedNotifications()
        let arrivals = try await rig.simulator.arrivals(in: rig.cluster.workshop)
        var seen: Set<String> = []
        var latencies: [String: LatencyHistogram] = [:]
        let offset = Self.microseconds(.now()) - Int64(Date().timeIntervalSince1970 * 1e6)
        for arrival in arrivals {
            guard let notification = expected[arrival.id] else {
                throw BenchmarkFailure("a notification arrived that nobody expects: \(arrival.id)")
            }
            guard seen.insert(arrival.id).inserted else {
                throw BenchmarkFailure("a notification arrived twice: \(arrival.id)")
            }
            guard let acceptedAt = notification.acceptedAt else { continue }
            let waited = arrival.at + offset - Self.microseconds(acceptedAt)
            latencies[notification.run, default: LatencyHistogram()].record(nanoseconds: waited * 1000)
        }
        guard seen.count == expected.count else {
            throw BenchmarkFailure("\(seen.count) of \(expected.count) notifications arrived")
        }
        return latencies
    }

    private struct Expected {
        let run: String
        /// When the 202 of its event came; `nil` when the sender does not know of it.
        let acceptedAt: NIODeadline?
    }

    /// The notifications of all events that are stored, by their ids.
    private func expectedNotifications() async throws -> [String: Expected] {
        let stored = try await rig.cluster.pool.query(
            "SELECT source_id, event_id FROM event_keys WHERE network_id = \(PushRig.networkID)"
        ) { row in (source: try row.decode(0, as: String.self), id: EventID(try row.decode(1, as: UUID.self))) }
        let ids = Dictionary(stored.map { ($0.source, $0.id) }, uniquingKeysWith: { first, _ in first })
        var expected: [String: Expected] = [:]
        var accepted = 0
        for (source, event) in ids {
            let parts = source.split(separator: "-")
            guard parts.count == 2, let number = Int(parts[1]),
                let stage = stages.first(where: { $0.run == parts[0] })
            else { throw BenchmarkFailure("an event is stored that nobody posted: \(source)") }
            let acceptedAt = stage.load.acceptedAt[number]
            if acceptedAt != nil { accepted += 1 }
            for device in recipients(of: number) {
                let id = NotificationID(event: event, device: device).description
                expected[id] = Expected(run: stage.run, acceptedAt: acceptedAt)
            }
        }
        let promised = stages.reduce(0) { $0 + $1.load.accepted }
        guard accepted == promised else {
            throw BenchmarkFailure("\(promised) events were accepted, of which \(accepted) are stored")
        }
        return expected
    }

    /// The devices of all members of an event's channel but its sender.
    private func recipients(of number: Int) -> [DeviceID] {
        let shape = rig.directory.shape
        let (channel, sender) = events("").place(of: number)
        return (0..<shape.membersPerChannel).map { shape.member($0, ofChannel: channel) }
            .filter { $0 != sender }.flatMap { devices[$0] ?? [] }
    }

    private func events(_ run: String) -> SignedEvents {
        SignedEvents(to: rig.network, in: rig.directory.shape, run: run)
    }

    private static func microseconds(_ time: NIODeadline) -> Int64 { Int64(time.uptimeNanoseconds / 1000) }
}
