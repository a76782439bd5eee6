import Postgres
import Subprocess

/// A build of the program with a server and a service of its own, and what was measured of it.
struct CPUBuild: Sendable {
    /// What builds are called, the one that is measured first.
    static let names = ["this", "other"]
    /// The devices that everybody has, one kind after the other.
    static let devices: [DirectoryLines.Device?] = [nil, .log]

    /// Its server.
    let cluster: Cluster
    private let name: String
    private let isCompared: Bool
    private let service: ServiceUnderTest
    private let notifications: NotificationFile
    /// By the names of their loads.
    private var scenarios: [String: IngestScenario] = [:]
    private var connections: [Int] = []

    /// Starts a server and a service of each build, beside those that are there already, and lends all of them.
    static func withBuilds<Value: Sendable>(
        in workshops: [Workshop],
        beside others: [CPUBuild] = [],
        _ body: ([CPUBuild]) async throws -> Value
    ) async throws -> Value {
        guard others.count < workshops.count else { return try await body(others) }
        let workshop = workshops[others.count]
        return try await Cluster.withCluster(in: workshop) { cluster in
            let notifications = NotificationFile(path: workshop.newPath("notifications.ndjson"))
            return try await ServiceUnderTest.withService(
                on: cluster,
                output: try notifications.create(),
                environment: ["CARILLON_DATA_DIR": workshop.newPath("data")]
            ) { service in
                let build = CPUBuild(
                    cluster: cluster,
                    name: names[others.count],
                    isCompared: workshops.count > 1,
                    service: service,
                    notifications: notifications
                )
                return try await withBuilds(in: workshops, beside: others + [build], body)
            }
        }
    }

    /// What a load is called in the table.
    static func name(_ connections: Int, _ device: DirectoryLines.Device?) -> String {
        "\(connections) connection\(connections == 1 ? "" : "s")\(device == nil ? "" : ", four notifications")"
    }

    /// Makes a network for each load and fills caches; nothing of it counts.
    mutating func prepare(_ connections: [Int], warmUp: Duration) async throws {
        self.connections = connections
        for connections in connections {
            for device in Self.devices {
                let key = Self.name(connections, device)
                let title = isCompared ? "\(name), \(key)" : key
                let load = EventLoad(name: title, connections: connections, device: device)
                var scenario = try await load.scenario(in: service)
                scenario.countsUntilDone = true
                try await scenario.warmUp(cluster, service, for: warmUp)
                scenarios[key] = scenario
            }
        }
        try await cluster.script("VACUUM ANALYZE")
    }

    /// What was posted over some connections to people with a device, or without.
    func scenario(_ connections: Int, _ device: DirectoryLines.Device?) -> IngestScenario? {
        scenarios[Self.name(connections, device)]
    }

    /// All loads, in the order in which they come.
    var loads: [(connections: Int, device: DirectoryLines.Device?, scenario: IngestScenario)] {
        connections.flatMap { connections in
            Self.devices.compactMap { device in scenario(connections, device).map { (connections, device, $0) } }
        }
    }

    /// One load.
    mutating func load(_ connections: Int, _ device: DirectoryLines.Device?, _ duration: Duration) async throws {
        try await cluster.checkpoint()
        try await scenarios[Self.name(connections, device)]?.load(duration, cluster, service)
    }

    /// Checks that nothing was lost and everything came out that had to.
    func verify() async throws {
        var delivered = 0
        for scenario in scenarios.values { delivered += try await scenario.verify(on: cluster).delivered }
        try notifications.verify(lineCount: delivered)
    }
}
