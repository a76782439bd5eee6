import CarillonCore
import NIOCore
import Postgres

/// How long one message takes to all devices of a very large channel, as a multiple of the time in which PostgreSQL alone
/// inserts a row for each of these devices.
///
/// A tenth of the members has muted everything and another tenth the channel. There is no such share at the network's
/// level, where a switch is everybody's.
///
/// `direct` measures beside it, in turn, a notification to everyone of the same size and with the same recipients.
struct FanoutBenchmark: Benchmark {
    /// How often each measurement is repeated.
    let rounds: Int
    /// How many members the channel has.
    let members: Int
    /// Whether notifications to everyone are measured, too.
    var measuresDirect = false

    private static let networkID = "crowd"

    func report(in workshop: Workshop) async throws -> Report {
        try await Cluster.withCluster(in: workshop) { cluster in
            var report = Report(benchmark: measuresDirect ? "direct" : "fanout")
            let network = try await fill(cluster, &report)
            let yardstick = try await RowPerDeviceYardstick(on: cluster, networkID: Self.networkID, sender: sender)
            // A process of its own: the import's memory is not the fan-out's.
            let notifications = NotificationFile(path: workshop.newPath("notifications.ndjson"))
            try await ServiceUnderTest.withService(on: cluster, output: try notifications.create()) { service in
                try await measure(yardstick, network, cluster, service, &report)
            }
            let events = (rounds + 1) * (measuresDirect ? 2 : 1)
            try notifications.verify(lineCount: try await yardstick.rowCount * events)
            return report
        }
    }

    /// One of those who muted nothing.
    private var sender: String { DirectoryLines.userID(0) }

    private var shape: DirectoryLines {
        DirectoryLines(userCount: members, channelCount: 1, membersPerChannel: members, device: .log)
    }

    /// Makes the channel with its members, their devices and their toggles.
    private func fill(_ cluster: Cluster, _ report: inout Report) async throws -> TestNetwork {
        cluster.workshop.say("fanout, importing \(members) users with devices")
        let (network, figures) = try await ServiceUnderTest.withService(on: cluster) { service in
            let network = try await TestNetwork.make(Self.networkID, in: service)
            let seconds = try await network.fill(with: shape, in: service)
            let memory = try service.process.peakResidentBytes
            let figures = [
                Figure("import of \(members * 3 + 1) lines", seconds, "s"),
                Figure("resident memory, import", Double(memory) / 1e6, "MB"),
            ]
            return (network, figures)
        }
        report.figures += figures
        // Written at once, because a request each is not what is measured here. The text is what the API stores.
        let toggles = #"{"enabled":true,"mutedUntil":"2999-01-01T00:00:00.000Z"}"#
        try await cluster.pool.withTransaction { session in
            try session.execute(
                """
                UPDATE users SET toggles = \(toggles), toggles_updated_at = now(), toggles_version = 1
                WHERE network_id = \(Self.networkID) AND user_id LIKE '%3'
                """
            )
            try session.execute(
                """
                UPDATE members SET toggles = \(toggles), toggles_updated_at = now(), toggles_version = 1
                WHERE network_id = \(Self.networkID) AND user_id LIKE '%7'
                """
            )
        }
        try await cluster.script("VACUUM ANALYZE")
        return network
    }

    private func measure(
        _ yardstick: RowPerDeviceYardstick,
        _ network: TestNetwork,
        _ cluster: Cluster,
        _ service: ServiceUnderTest,
        _ report: inout Report
    ) async throws {
        let expected = try await yardstick.rowCount
        let events = SignedEvents(to: network, in: shape, senders: 1, run: "message")
        let client = HTTPClient(port: service.port)
        var request = FollowedEvent(events: events, client: client, network: network)
        cluster.workshop.say("fanout, warming up")
        _ = try await yardstick.seconds()
        _ = try await secondsUntilDone(&request, expected: expected)
        if measuresDirect { _ = try await secondsUntilDone(&request, everyone(events.text), expected: expected) }
        let before = try await HotTables.settledCount(on: cluster)
        var yardsticks: [Double] = []
        var fanouts: [MeasuredFanout] = []
        var directs: [MeasuredFanout] = []
        for round in 1...rounds {
            cluster.workshop.say("fanout, round \(round) of \(rounds)")
            try await cluster.checkpoint()
            yardsticks.append(try await yardstick.seconds())
            try await cluster.checkpoint()
            fanouts.append(
                try await MeasuredFanout.measured(service, cluster) {
                    try await secondsUntilDone(&request, expected: expected)
                }
            )
            guard measuresDirect else { continue }
            try await cluster.checkpoint()
            directs.append(
                try await MeasuredFanout.measured(service, cluster) {
                    try await secondsUntilDone(&request, everyone(events.text), expected: expected)
                }
            )
        }
        let written = try await HotTables.settledCount(on: cluster)
        let count = Double(fanouts.count + directs.count)
        let rows = { (later: Int, earlier: Int) in Double(later - earlier) / count }
        let memory = try service.process.peakResidentBytes
        report.figures += [
            Figure("devices notified", count: expected),
            Figure("psql, a row for each", Series(yardsticks), "s"),
            Figure("202 to done", fanouts.seconds, "s"),
            Figure("202 to done ÷ psql", fanouts.seconds.median / Series(yardsticks).median, goal: .atMost(2)),
            Figure("rows inserted for an event", rows(written.inserted, before.inserted), goal: .below(1000)),
            Figure("rows updated for an event", rows(written.updated, before.updated)),
            Figure("rows deleted for an event", rows(written.deleted, before.deleted)),
            Figure("resident memory, fan-out", Double(memory) / 1e6, "MB", goal: .below(250)),
        ]
        report.figures += fanouts.processorTimes("message", devices: expected)
        if measuresDirect {
            let ratio = directs.seconds.median / fanouts.seconds.median
            report.figures += [
                Figure("everyone, 202 to done", directs.seconds, "s"),
                Figure("everyone ÷ message", ratio, goal: .atMost(1.1)),
            ]
            report.figures += directs.processorTimes("everyone", devices: expected)
        }
        report.notes = [
            "one message into a channel of \(members) members with a log device each; a tenth of them has muted"
                + " everything and another tenth the channel. At the network's level a switch is everybody's.",
            "rows are those of deliveries, inbox, outcomes and events together, by pg_stat_user_tables.",
            "every notification was found in the log provider's output once.",
        ]
    }

    /// A notification to everyone whom a message in the channel would reach.
    private func everyone(_ text: String) -> JSONValue {
        [
            "to": ["everyone": true], "title": "All of you", "body": .string(text),
            "channelId": .string(DirectoryLines.channelID(0)), "actorId": .string(sender),
        ]
    }

    /// Posts a message, or a notification, and asks for it until it is done.
    private func secondsUntilDone(
        _ request: inout FollowedEvent,
        _ notification: JSONValue? = nil,
        expected: Int
    ) async throws -> Double {
        let acceptedAt: NIODeadline
        if let notification {
            acceptedAt = try await request.post(notification)
        } else {
            acceptedAt = try await request.post()
        }
        let doneAt = try await request.done(after: acceptedAt, notifying: expected)
        return Double((doneAt - acceptedAt).nanoseconds) / 1e9
    }
}

/// How long one event took to all of its devices, and the processor time meanwhile.
private struct MeasuredFanout {
    var seconds: Double
    var used: ProcessorTime

    static func measured(
        _ service: ServiceUnderTest,
        _ cluster: Cluster,
        _ seconds: () async throws -> Double
    ) async throws -> MeasuredFanout {
        let before = ProcessorTime.now(service, cluster)
        return MeasuredFanout(seconds: try await seconds(), used: ProcessorTime.now(service, cluster) - before)
    }
}

extension [MeasuredFanout] {
    fileprivate var seconds: Series { Series(map(\.seconds)) }

    /// What one device costs, in microseconds.
    fileprivate func processorTimes(_ name: String, devices: Int) -> [Figure] {
        let share = { (part: (ProcessorTime) -> Double) in Series(map { part($0.used) / Double(devices) * 1e6 }) }
        return [
            Figure("\(name): processor time for a device, service", share(\.service), "µs"),
            Figure("\(name): processor time for a device, PostgreSQL", share(\.postgres), "µs"),
        ]
    }
}
