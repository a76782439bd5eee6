import CarillonCore
import Foundation
import NIOHTTP1
import Synchronization
import Testing

extension Services.Neighbours {
    /// A network whose admin reads without end.
    @Suite struct ReadingTests {
        private static let connections = 64
        /// Half of what others waited for when nothing stood in front of pages.
        private static let margin = Duration.milliseconds(150)
        private static let pages = [
            "users?limit=1000", "channels/many/members?limit=1000", "users?query=user&limit=1000", "events?limit=1000",
        ]

        @Test func `pages that one network reads delay nobody else's events`() async throws {
            let scratch = Scratch()
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch)
                let innocent = try await Innocent(on: service, hosts: hosts, port: port)
                let quiet = try await innocent.notice("quiet")
                let network = try await TestNetwork("reading", on: service)
                try await network.importPeople((0..<5_000).map { Person("user-\($0)") }, channel: "many")
                let readers = Readers(network)
                try await beside({ await readers.read(Self.pages, connections: Self.connections) }) {
                    try await eventually("pages") { readers.count(of: 200) >= Self.connections }
                    try await expectUndisturbed(beside: "pages", within: Self.margin, quiet: quiet) { look in
                        let notice = try await innocent.notice("loaded-\(look)", count: 50)
                        #expect(Set(readers.answers.keys).isSubset(of: [200, 429]))
                        return notice
                    }
                }
                #expect(try await service.stop() == 0)
            }
        }
    }
}

/// An admin who reads pages over many connections, on each as soon as the last one is there.
private final class Readers: Sendable {
    private let network: TestNetwork
    private let statuses = Mutex<[UInt: Int]>([:])

    init(_ network: TestNetwork) { self.network = network }

    var answers: [UInt: Int] { statuses.withLock(\.self) }

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
            guard let answer = try? await network.client.ofCrowd.send(.GET, path, token: network.adminKey) else {
                continue
            }
            statuses.withLock { $0[answer.status, default: 0] += 1 }
        }
    }
}
