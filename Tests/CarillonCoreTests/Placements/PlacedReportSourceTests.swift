import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

/// A look at all networks where a placement does not answer.
@Suite struct PlacedReportSourceTests {
    private struct Away: Error {}

    /// A placement with one network, or one that hangs, which counts how often it is waited for.
    private final class ScriptedReportSource: NetworkReportSource {
        private let network: NetworkID?
        private let questions = Mutex(0)

        init(_ network: NetworkID?) { self.network = network }

        var asked: Int { questions.withLock(\.self) }

        private func answer<Value>(_ value: (NetworkID) -> Value) throws -> Value {
            questions.withLock { $0 += 1 }
            guard let network else { throw Away() }
            return value(network)
        }

        func namedNetworks() async throws -> [NamedNetwork] {
            try answer { [NamedNetwork(id: $0, displayName: nil)] }
        }

        func troubles(of networks: [NetworkID], at now: Timestamp) async throws -> [NetworkID: [NetworkTrouble]] {
            try answer { _ in [:] }
        }

        func oldestWaits(of networks: [NetworkID]) async throws -> [NetworkID: Duration] {
            try answer { [$0: .seconds(7)] }
        }

        func figures(
            of networks: [NetworkID],
            refusingSince moment: Timestamp,
            asked: Set<NetworkID>,
            without known: [StatisticsRow]
        ) async throws -> [StatisticsRow] { try answer { _ in [] } }

        func activities(
            of networks: [NetworkID],
            since moment: Timestamp,
            without known: [StatisticsRow]
        ) async throws -> [NetworkID: NetworkActivity] { try answer { _ in [:] } }
    }

    @Test func `a placement that hangs is waited for once, by whoever looks at all networks`() async throws {
        let p1 = PlacementName("p1") ?? .home
        let (near, far) = (ScriptedReportSource("near"), ScriptedReportSource(nil))
        let reportSources: [PlacementName: any NetworkReportSource] = [.home: near, p1: far]
        let placed = Placed(reportSources) { network, _ in network == "near" ? .home : p1 }
        let overview = NetworkOverview(reportSource: placed, recorder: StatisticsRecorder(clock: .system))
        let reports = try await overview.reports(after: nil, limit: 10, ofAll: true).items
        #expect(reports.map(\.network.id) == ["near"])
        #expect(reports.first?.oldestWait == .seconds(7))
        #expect(far.asked == 1)
        #expect(try await overview.states(of: ["near"]).keys.map(\.self) == ["near"])
        #expect(far.asked == 1)
    }
}
