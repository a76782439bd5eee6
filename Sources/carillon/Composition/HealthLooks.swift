import CarillonCore
import CarillonHTTP

/// Answers `GET /health/ready`: looks at all placements, beside each other and within a bounded time.
struct HealthLooks: Sendable {
    /// How long a placement may take to answer where there are others, and where it is the only one: as long as for any request.
    private static let (limit, onlyLimit) = (Duration.seconds(2), Duration.seconds(5))

    private let readiness: Readiness
    private let probes: [(name: PlacementName, probe: ReadinessProbe)]
    private let list: PlacementListing?
    private let concern: String?

    /// Looks at the placements of a storage; `concern` is what an operator should know besides.
    init(_ storage: Storage, concern: String?) {
        readiness = storage.readiness
        probes = storage.placements.map { ($0.name, $0.probe(readsTable: storage.list != nil)) }
        list = storage.list
        self.concern = concern
    }

    func all() async -> [PlacementName: ReadinessProbe.Answer] {
        if readiness.isShuttingDown, let problem = readiness.problem {
            return Dictionary(
                uniqueKeysWithValues: probes.map { ($0.name, ReadinessProbe.Answer(reasons: [problem], skew: nil)) }
            )
        }
        guard list != nil else {
            return [probes[0].name: await answer(of: probes[0].probe, within: Self.onlyLimit)]
        }
        return await withTaskGroup(of: (PlacementName, ReadinessProbe.Answer).self) { tasks in
            for (name, probe) in probes { tasks.addTask { (name, await look(probe)) } }
            return await tasks.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    func health() async -> ServiceHealth {
        let answers = await all()
        let warnings = [concern, list?.directory.foreign(among: probes.map(\.name))].compactMap(\.self)
        let reasons = answers.mapValues(\.reasons).filter { !$1.isEmpty }
        guard list != nil else { return ServiceHealth(reasonsNotReady: reasons.values.first ?? [], warnings: warnings) }
        if let problem = readiness.problem { return ServiceHealth(reasonsNotReady: [problem]) }
        let placements = reasons.mapValues { $0.joined(separator: "; ") }
        guard reasons.count < probes.count else {
            return ServiceHealth(reasonsNotReady: placements.sorted { $0.key < $1.key }.map { "\($0): \($1)" })
        }
        let away = placements.sorted { $0.key < $1.key }.map { "placement \($0.key): \($0.value)" }
        return ServiceHealth(reasonsNotReady: [], warnings: warnings + away, placements: placements)
    }

    private func look(_ probe: ReadinessProbe) async -> ReadinessProbe.Answer {
        let answer = await answer(of: probe, within: Self.limit)
        let problem = answer.reasons.isEmpty ? nil : answer.reasons.joined(separator: "; ")
        probe.state.note { $0.lastLook = problem }
        return answer
    }

    private func answer(of probe: ReadinessProbe, within limit: Duration) async -> ReadinessProbe.Answer {
        do {
            return try await withDeadline(limit) { await probe.look() }
        } catch {
            return ReadinessProbe.Answer(reasons: ["PostgreSQL does not answer"], skew: nil)
        }
    }
}

extension PlacementDirectory {
    /// What an operator should know of networks that are in placements which are not configured here.
    fileprivate func foreign(among names: [PlacementName]) -> String? {
        let foreign = counts.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
        guard !foreign.isEmpty else { return nil }
        let list = foreign.map { "\($0.value) in \($0.key)" }.joined(separator: ", ")
        return "networks are in placements whose URLs are not configured here: \(list)"
    }
}
