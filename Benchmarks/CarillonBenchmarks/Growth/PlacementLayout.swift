import Postgres
import Subprocess

/// Placements that are spread over clusters, the first of which is home's.
struct PlacementLayout: Sendable {
    /// How many placements there are, home included.
    let placements: Int
    /// On how many clusters, one after the other.
    let clusters: Int

    /// What it is called in the table.
    var name: String {
        placements == 1 ? "1 placement" : "\(placements) placements, \(clusters) cluster\(clusters == 1 ? "" : "s")"
    }

    /// The names of the placements, home's first.
    var names: [String] { ["default"] + (1..<placements).map { "p\($0)" } }

    /// Starts the clusters, with all placements in them, and lends them, home's first, with what a service has to be told.
    func withClusters<Value: Sendable>(
        in workshop: Workshop,
        _ body: ([Cluster], [Environment.Key: String]) async throws -> Value
    ) async throws -> Value {
        try await withClusters(in: workshop, beside: []) { clusters in
            var urls: [String] = []
            for (number, name) in names.enumerated().dropFirst() {
                let cluster = clusters[number % clusters.count]
                try await cluster.script("CREATE SCHEMA \(identifier: name)")
                urls.append("\(name)=\(cluster.url(schema: name))")
            }
            let environment: [Environment.Key: String] =
                urls.isEmpty ? [:] : ["CARILLON_PLACEMENTS": urls.joined(separator: " ")]
            try await clusters[0].migrate(with: environment)
            return try await body(clusters, environment)
        }
    }

    private func withClusters<Value: Sendable>(
        in workshop: Workshop,
        beside others: [Cluster],
        _ body: ([Cluster]) async throws -> Value
    ) async throws -> Value {
        if others.count == clusters { return try await body(others) }
        return try await Cluster.withCluster(in: workshop, migrates: false) { cluster in
            try await withClusters(in: workshop, beside: others + [cluster], body)
        }
    }
}

extension Cluster {
    /// Where a schema of it is, as a URL without blanks.
    func url(schema: String) -> String {
        let pairs = url.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }
        let items = pairs.filter { $0.count == 2 && $0[0] != "dbname" }.map { pair in
            "\(pair[0])=\(pair[1].replacing("'", with: "").replacing("/", with: "%2F"))"
        }
        return "postgres:///carillon?\((items + ["options=-c%20search_path%3D\(schema)"]).joined(separator: "&"))"
    }

    /// How many connections services have.
    var connections: Int {
        get async throws {
            try await count(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE backend_type = 'client backend' AND application_name <> \(Self.applicationName)
                """
            )
        }
    }
}
