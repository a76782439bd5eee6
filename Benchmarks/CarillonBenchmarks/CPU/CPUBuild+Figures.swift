extension CPUBuild {
    /// Where half of the requests wait for what the service does, not for each other.
    private static let mostConnectionsOfLatency = 8

    /// What was measured of each load, beside the yardstick by numbers of connections, in the rounds' order as the loads are.
    func figures(beside commits: [Int: [SingleRowYardstick.Commits]]) -> [Figure] {
        loads.flatMap { connections, device, scenario in
            figures(of: scenario, CPUGoals(connections, device), connections, beside: commits[connections] ?? [])
        }
    }

    /// The same as shares of another build's, round by round.
    func figures(beside other: CPUBuild) -> [Figure] {
        loads.flatMap { connections, device, scenario -> [Figure] in
            guard let beside = other.scenario(connections, device) else { return [] }
            func ratio(_ name: String, _ value: (IngestScenario) -> [Double]) -> Figure {
                let ratios = zip(value(scenario), value(beside)).map { $0 / max(0.001, $1) }
                return Figure("\(Self.name(connections, device)), this ÷ other: \(name)", Series(ratios))
            }
            return [
                ratio("processor time, service") { $0.processorTimes(\.service) },
                ratio("processor time, PostgreSQL") { $0.processorTimes(\.postgres) },
                ratio("processor time, both") { $0.processorTimes(\.served) },
                ratio("accepted", \.rates),
            ]
        }
    }

    private func figures(
        of scenario: IngestScenario,
        _ goals: CPUGoals,
        _ connections: Int,
        beside commits: [SingleRowYardstick.Commits]
    ) -> [Figure] {
        let both = scenario.processorTimes(\.served)
        let ratios = zip(both, commits).map { $0 / $1.both }
        let shares = zip(scenario.rates, commits).map { $0 / $1.rate }
        var figures = [
            Figure("processor time, service", scenario.processorTime(\.service), "µs"),
            Figure("processor time, PostgreSQL", scenario.processorTime(\.postgres), "µs"),
            Figure("processor time, both", Series(both), "µs", goal: goals.both),
            Figure("processor time, both ÷ a commit's", Series(ratios), goal: goals.ratio),
            Figure("accepted", Series(scenario.rates), "/s"),
            Figure("accepted ÷ commits", Series(shares), goal: goals.share),
        ]
        if connections <= Self.mostConnectionsOfLatency {
            figures.append(Figure("p50", Series(scenario.medianLatencies), "ms"))
        }
        if scenario.refused > 0 { figures.append(Figure("refused with 503", count: scenario.refused)) }
        return figures.map { $0.named("\(scenario.name): \($0.name)") }
    }
}

/// What the processor time of an event should be, where something was promised.
private struct CPUGoals {
    /// Of service and PostgreSQL together, in microseconds.
    let both: Figure.Goal?
    /// The same as a multiple of a commit's.
    let ratio: Figure.Goal?
    /// Events as a share of commits.
    let share: Figure.Goal?

    init(_ connections: Int, _ device: DirectoryLines.Device?) {
        let isPlain64 = connections == 64 && device == nil
        ratio = isPlain64 ? .atMost(1.6) : nil
        share = isPlain64 ? .atLeast(0.5) : nil
        both =
            switch (connections, device == nil) {
            case (1, true): .atMost(1_000)
            case (8, true): .atMost(400)
            case (64, false): .atMost(300)
            default: nil
            }
    }
}
