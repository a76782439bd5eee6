import Postgres

/// A network with very many apps, most of whose deliveries wait for their next attempt, and some for a credential.
struct WaitingLanes: Neighbour {
    private static let lanes = 20_000
    private static let paused = 5_000
    private static let limit = Duration.seconds(120)

    /// Every notification is refused once, so that its second attempt has to be claimed.
    var innocent: Innocent.Plan { Innocent.Plan(path: "second") }

    var headStart: Duration { .seconds(10) }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let count = scene.scaled(Self.lanes)
        let devices = (0..<count).map { #""provider":"fcm","appId":"app-\#($0)","token":"token-\#($0)""# }
        try await network.importMember(devices: devices, in: scene.service)
        try await Poster(network: network, in: scene).post("first", channel: "c")
        try await waitForDeliveries(count, scene)
        // They wait as they would after an answer of 503 with a long Retry-After; the others for a credential.
        let waiting = count - scene.scaled(Self.paused)
        let moved = try await scene.cluster.count(
            """
            WITH moved AS (
                UPDATE deliveries
                SET run_at = now() + interval '1 hour', leased = false, lease_token = lease_token + 1
                WHERE (network_id, group_id) IN (
                    SELECT network_id, group_id FROM deliveries WHERE network_id = 'neighbour'
                    ORDER BY app_id LIMIT \(waiting))
                RETURNING 1)
            SELECT count(*) FROM moved
            """
        )
        guard moved == waiting else { throw BenchmarkFailure("only \(moved) of \(waiting) groups wait") }
        try await Task.sleep(for: .seconds(3600))
    }

    private func waitForDeliveries(_ count: Int, _ scene: Scene) async throws {
        let deadline = ContinuousClock.now + Self.limit
        while try await scene.cluster.count("SELECT count(*) FROM deliveries WHERE network_id = 'neighbour'") < count {
            guard ContinuousClock.now < deadline else { throw BenchmarkFailure("\(count) groups are not queued") }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
