import CarillonCore
import NIOCore

/// How much a processor second of the service is worth in messages to small channels, and how long they take to the push
/// services at half of the highest load.
struct ChatBenchmark: Benchmark {
    /// How long the half load lasts.
    let seconds: Int

    /// How long the service is posted as much as it takes; what it cannot send meanwhile it sends afterwards.
    private static let burst = Duration.seconds(3)
    private static let shape = (users: 2_000, channels: 200, members: 10)

    func report(in workshop: Workshop) async throws -> Report {
        try await PushRig.withRig(
            SimulatorProcess.Options(remembersIdentifiers: true),
            services: [.apns, .fcm],
            directory: { _ in
                .chat(
                    userCount: Self.shape.users,
                    channelCount: Self.shape.channels,
                    membersPerChannel: Self.shape.members
                )
            },
            in: workshop
        ) { rig in
            var load = ChatLoad(rig)
            workshop.say("chat, warming up")
            _ = try await load.post(at: .perSecond(50), for: .seconds(2))
            workshop.say("chat, as much as it takes")
            let full = try await load.post(at: .closedLoop, for: Self.burst)
            let half = full.eventsPerSecond / 2
            workshop.say("chat, \(half.shortText) events/s for \(seconds) s")
            let steady = try await load.post(at: .perSecond(half), for: .seconds(seconds))
            let latencies = try await load.verify()
            return try report(full: full, half: steady, latencies, rig)
        }
    }

    private func report(
        full: ChatLoad.Stage,
        half: ChatLoad.Stage,
        _ latencies: [String: LatencyHistogram],
        _ rig: PushRig
    ) throws -> Report {
        let latency = latencies[half.run] ?? LatencyHistogram()
        var report = Report(benchmark: "chat")
        report.figures = [
            Figure("notifications, highest load", full.notificationsPerSecond, "/s"),
            Figure("notifications, highest load", full.notificationsPerProcessorSecond, "/CPU s"),
            Figure("notifications, half load", half.notificationsPerSecond, "/s"),
            Figure("notifications, half load", half.notificationsPerProcessorSecond, "/CPU s"),
            Figure("202 to provider call, half load, p50", latency.percentile(0.5), "ms"),
            Figure("202 to provider call, half load, p99", latency.percentile(0.99), "ms"),
            Figure("events of half load refused with 503", count: half.load.refused),
            Figure("processor time, service", half.each(half.processorTime.service), "µs"),
            Figure("processor time, PostgreSQL", half.each(half.processorTime.postgres), "µs"),
            Figure("processor time, simulator", half.each(half.simulatorSeconds), "µs"),
            Figure("resident memory", Double(try rig.service.process.peakResidentBytes) / 1e6, "MB"),
        ]
        report.notes = [
            "messages into \(Self.shape.channels) channels of \(Self.shape.members) of \(Self.shape.users) users, with"
                + " \(Double(rig.directory.devices.count) / Double(Self.shape.users)) devices each on average, half of"
                + " them APNs and half FCM.",
            "highest load: events posted as fast as they are accepted for \(Self.burst), over the time until all is done.",
            "processor times are for one notification at half load.",
            "each notification arrived at the simulator exactly once, by its id.",
        ]
        return report
    }
}
