import CarillonCore
import Foundation
import NIOHTTP1
import Synchronization
import Testing

extension Services.Neighbours {
    /// A network whose admin reads without end.
    @Suite struct ReadingTests {
        private static let connections = 64
        private static let pages = [
            "users?limit=1000", "channels/many/members?limit=1000", "users?query=user&limit=1000", "events?limit=1000",
        ]

        /// Judged by medians: of 64 pages that were read at once each event noticed something, whatever else the machine did.
        @Test func `pages that one network reads delay nobody else's events`() async throws {
            let scratch = try Scratch()
            let service = try await RunningService.start(in: scratch)
            let innocent = try await TestNetwork("innocent", on: service)
            let network = try await TestNetwork("reading", on: service)
            try await network.importPeople((0..<5_000).map { Person("user-\($0)") }, channel: "many")
            _ = try await accepting(innocent, "warm-up")
            let before = try await accepting(innocent, "before")
            let readers = Readers(network)
            let loaded = try await beside {
                await readers.read(Self.pages, connections: Self.connections)
            } _: {
                try await eventually("pages") { readers.count(of: 200) >= Self.connections }
                return try await accepting(innocent, "loaded")
            }
            let after = try await accepting(innocent, "after")
            print("beside pages (\(readers.answers)): accepting \(before), \(loaded), \(after)")
            #expect(Set(readers.answers.keys).isSubset(of: [200, 429]))
            #expect(loaded <= max(before, after) * 3 + .milliseconds(20))
            #expect(try await service.stop() == 0)
        }

        /// How long the median of the requests took; all have to be accepted.
        private func accepting(_ network: TestNetwork, _ run: String) async throws -> Duration {
            var times: [Duration] = []
            for number in 0..<41 {
                let start = ContinuousClock.now
                _ = try await network.accept(TestEvents.messageSent("\(run)-\(number)"))
                times.append(.now - start)
                try await Task.sleep(for: .milliseconds(20))
            }
            return times.sorted()[times.count / 2]
        }
    }
}

/// An admin who reads pages over many connections, on each as soon as the last one is there.
private final class Readers: Sendable {
    private let network: TestNetwork
    private let statuses = Mutex<[UInt: Int]>([:])

    init(_ network: TestNetwork) {
        self.network = network
    }

    /// How many answers there were of each status.
    var answers: [UInt: Int] { statuses.withLock(\.self) }

    /// How many there were of one.
    func count(of status: UInt) -> Int { answers[status] ?? 0 }

    /// Reads until it is cancelled.
    func read(_ pages: [String], connections: Int) async {
        await withDiscardingTaskGroup { group in
            for number in 0..<connections {
                group.addTask { await self.read(pages[number % pages.count]) }
            }
        }
    }

    private func read(_ page: String) async {
        let path = "/v1/networks/\(network.id)/\(page)"
        while !Task.isCancelled {
            guard let answer = try? await network.client.send(.GET, path, token: network.adminKey) else { continue }
            statuses.withLock { $0[answer.status, default: 0] += 1 }
        }
    }
}
