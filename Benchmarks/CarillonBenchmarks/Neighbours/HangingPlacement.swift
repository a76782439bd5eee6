import Foundation
import Postgres
import Subprocess
import Synchronization

/// A placement on a cluster of its own that hangs, while its network goes on posting.
final class HangingPlacement: Neighbour {
    private static let placement = "p1"
    private static let networkID = "hanging"
    /// How many requests of its network are on their way at a time.
    private static let posters = 8

    private let workshop: Workshop
    private let cluster = Mutex<Cluster?>(nil)
    private let refusals = Mutex<(waits: Series, others: Int)>((Series(), 0))

    /// One whose cluster is made in a workshop.
    init(in workshop: Workshop) {
        self.workshop = workshop
    }

    var promise: Promise { Promise(factor: 2, extra: 0, accepting: 2) }

    var environment: [Environment.Key: String] {
        guard let cluster = cluster.withLock(\.self) else { return [:] }
        return ["CARILLON_PLACEMENTS": "\(Self.placement)=\(cluster.url(schema: Self.placement))"]
    }

    func withSurroundings<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await Cluster.withCluster(in: workshop, migrates: false) { cluster in
            try await cluster.script("CREATE SCHEMA \(identifier: Self.placement)")
            try await cluster.migrate(with: ["CARILLON_DATABASE_URL": cluster.url(schema: Self.placement)])
            self.cluster.withLock { $0 = cluster }
            return try await body()
        }
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        try await scene.service.openPlacement(Self.placement)
        let own = try await TestNetwork.make(Self.networkID, in: scene.service, placement: Self.placement)
        guard let server = cluster.withLock(\.self)?.server else { throw BenchmarkFailure("no server to stop") }
        let processes = [server] + server.children
        for process in processes { process.signal(SIGSTOP) }
        defer { for process in processes { process.signal(SIGCONT) } }
        await withDiscardingTaskGroup { group in
            for number in 0..<Self.posters {
                group.addTask { await self.post(to: own, number, scene) }
            }
        }
    }

    func figures(_ scene: Scene) async throws -> [Figure] {
        let (waits, others) = refusals.withLock(\.self)
        return [
            Figure("its own requests, 503", count: waits.count, goal: .atLeast(1)),
            Figure("its own requests, longest until 503", waits.maximum, "s", goal: .atMost(2.1)),
            Figure("its own requests, other answers", count: others, goal: .atMost(0)),
        ]
    }

    private func post(to network: TestNetwork, _ number: Int, _ scene: Scene) async {
        let client = HTTPClient(port: scene.service.port, bearer: network.apiKey)
        var count = 0
        while !Task.isCancelled {
            count += 1
            let body =
                #"{"id":"\#(number)-\#(count)","type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"u"},"#
                + #""message":{"id":"m","type":"text","text":"Hello"}}}"#
            let request = HTTPRequest.json("POST", "\(network.path)/events", Array(body.utf8))
            let start = ContinuousClock.now
            guard let status = try? await client.send(request).status else { continue }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            refusals.withLock { refusals in
                if status == 503 { refusals.waits.append(seconds) } else { refusals.others += 1 }
            }
        }
        await client.close()
    }
}
