import Foundation
import Postgres

/// What several placements cost beside one, what one that hangs does to the others, and how much replicas help that nobody posts to.
///
/// The same load in all: as many networks as the most placements are, each with as many events a second.
struct GrowthBenchmark: Benchmark {
    private static let layouts = [
        PlacementLayout(placements: 1, clusters: 1), PlacementLayout(placements: 2, clusters: 1),
        PlacementLayout(placements: 4, clusters: 1), PlacementLayout(placements: 2, clusters: 2),
        PlacementLayout(placements: 4, clusters: 2),
    ]
    /// How long nothing happens before that is measured: by then looks for what is due are rare.
    private static let settling = Duration.seconds(20)

    /// How long each load lasts.
    let seconds: Int
    /// How long it is measured what nothing costs.
    let idleSeconds: Int
    /// Whether nothing is measured but replicas of one placement.
    let onlyReplicas: Bool

    func report(in workshop: Workshop) async throws -> Report {
        var report = Report(benchmark: "growth")
        if onlyReplicas {
            report.figures = try await ReplicaGrowth().figures(in: workshop)
            report.notes = [ReplicaGrowth.note]
            return report
        }
        var first: GrowthStage?
        for layout in Self.layouts {
            workshop.say("growth, \(layout.name)")
            let stage = try await stage(layout, in: workshop)
            report.figures += stage.figures(beside: first ?? stage)
            first = first ?? stage
        }
        workshop.say("growth, a placement that hangs")
        let neighbourhood = Neighbourhood(seconds: seconds, size: 1)
        let hanging = try await neighbourhood.figures(beside: HangingPlacement(in: workshop), in: workshop)
        report.figures += hanging.map { $0.named("one of two hangs: \($0.name)") }
        report.figures += try await ReplicaGrowth().figures(in: workshop)
        report.notes = [
            ReplicaGrowth.note,
            "\(GrowthLoad.networks) networks, spread over the placements, each with \(Int(GrowthLoad.eventsPerSecond)) signed"
                + " events a second of about 600 bytes in channels of \(GrowthLoad.shape.membersPerChannel) members with a log"
                + " device each; processor time is for each accepted event, while the load lasts.",
            "idle is the processor time of a service that has nothing to do and of all processes of its clusters, after"
                + " \(Self.settling) in which nothing happened; of a further placement it is what there is more than with one.",
            "a placement that hangs is a cluster of its own whose processes are all stopped (SIGSTOP).",
        ]
        return report
    }

    private func stage(_ layout: PlacementLayout, in workshop: Workshop) async throws -> GrowthStage {
        try await layout.withClusters(in: workshop) { clusters, environment in
            try await ServiceUnderTest.withService(on: clusters[0], environment: environment) { service in
                try await Task.sleep(for: Self.settling)
                var stage = GrowthStage(layout: layout)
                stage.idle = try await Rest.measure(service, clusters, for: .seconds(idleSeconds))
                try await GrowthLoad(service: service, clusters: clusters).run(
                    for: .seconds(seconds),
                    in: layout,
                    into: &stage
                )
                return stage
            }
        }
    }
}

/// What was measured with some placements.
struct GrowthStage: Sendable {
    let layout: PlacementLayout
    /// What it costs when nothing happens.
    var idle = Rest()
    /// How many events were accepted, and how many were answered with 503.
    var accepted = 0
    var refused = 0
    var used = ProcessorTime()
    var connections = 0

    /// The processor time of each accepted event, in microseconds.
    private func cost(_ share: KeyPath<ProcessorTime, Double>) -> Double {
        used[keyPath: share] / Double(max(1, accepted)) * 1e6
    }

    func figures(beside one: GrowthStage) -> [Figure] {
        let further = layout.placements - one.layout.placements
        var figures = [
            Figure("accepted", count: accepted),
            Figure("refused with 503", count: refused, goal: .atMost(0)),
            Figure("processor time of an event, service", cost(\.service), "µs"),
            Figure("the same ÷ 1 placement", cost(\.service) / one.cost(\.service)),
            Figure("processor time of an event, PostgreSQL", cost(\.postgres), "µs"),
            Figure("the same ÷ 1 placement", cost(\.postgres) / one.cost(\.postgres)),
            Figure(
                "connections",
                count: connections,
                goal: .atMost(further == 0 ? 7 : Double(layout.placements * 3 + 1))
            ),
            Figure("idle, service", idle.service, "ms/s", goal: further == 0 ? .atMost(4) : nil),
            Figure("idle, service's switches", idle.switches, "/s", goal: further == 0 ? .atMost(60) : nil),
            Figure("idle, PostgreSQL", idle.postgres, "ms/s"),
        ]
        if further > 0 {
            // A cluster more costs something, too, with nobody in it.
            let more = (idle.all - one.idle.all) / Double(further)
            figures.append(Figure("idle, each further placement, both", more, "ms/s", goal: .atMost(2)))
        }
        return figures.map { $0.named("\(layout.name): \($0.name)") }
    }
}
