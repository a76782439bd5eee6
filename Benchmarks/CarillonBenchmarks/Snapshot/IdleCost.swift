import Postgres

/// What a service costs that has nothing to do: shares of a core.
struct IdleCost: Sendable {
    /// The service's own processor time.
    let service: Double
    /// That of its sessions.
    let sessions: Double
    /// That of the whole server, with the sessions.
    let postgres: Double

    /// Looks for a while.
    static func measure(_ scene: Scene, for duration: Duration) async throws -> IdleCost {
        let before = try await sessions(scene.cluster)
        let (used, start) = (ProcessorTime.now(scene.service, scene.cluster), ContinuousClock.now)
        try await Task.sleep(for: duration)
        let after = try await sessions(scene.cluster)
        let took = (ContinuousClock.now - start) / .seconds(1)
        let meanwhile = ProcessorTime.now(scene.service, scene.cluster) - used
        let sessions = after.reduce(0) { $0 + $1.value - before[$1.key, default: 0] }
        let (service, postgres) = (meanwhile.service, meanwhile.postgres)
        return IdleCost(service: service / took, sessions: sessions / took, postgres: postgres / took)
    }

    /// The figures of a stage.
    func figures(_ stage: String, goal: Figure.Goal?) -> [Figure] {
        [
            Figure("\(stage): idle, service", service),
            Figure("\(stage): idle, its sessions", sessions),
            Figure("\(stage): idle, both", service + sessions, goal: goal),
            Figure("\(stage): idle, PostgreSQL as a whole", postgres),
        ]
    }

    /// The processor seconds that each of the service's sessions has used.
    private static func sessions(_ cluster: Cluster) async throws -> [Int32: Double] {
        let ids = try await cluster.pool.query(
            """
            SELECT pid FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND application_name <> \(Cluster.applicationName)
            """
        ) { row in try row.decode(0, as: Int32.self) }
        return Dictionary(uniqueKeysWithValues: ids.map { ($0, ProcessStatus(id: $0).processorSeconds) })
    }
}
