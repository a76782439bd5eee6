import CarillonCore
import CarillonTesting
import Foundation
import Testing

/// What ``StatisticsStore`` promises.
@Suite(.stores) struct StatisticsTests {
    let scene = StoreScene.here

    private let hour = Timestamp.seconds(0)

    private func row(
        _ network: NetworkID,
        minute: Int,
        _ origin: StatisticsRow.Origin,
        _ random: inout SplitMix
    ) -> StatisticsRow {
        StatisticsRow(
            networkID: network,
            at: StatisticsStep.hour.beginning(of: hour) + .seconds(60 * minute),
            origin: origin,
            figures: .random(&random)
        )
    }

    @Test func `what is written is read, once, by its network and time`() async throws {
        var random = SplitMix(state: 1)
        let (first, second) = (UUID(), UUID())
        let rows = [
            row(scene.network, minute: 0, .init(replica: first, number: 1), &random),
            row(scene.network, minute: 0, .init(replica: second, number: 1), &random),
            row(scene.network, minute: 0, .init(replica: first, number: 2), &random),
            row(scene.network, minute: 1, .init(replica: first, number: 3), &random),
            row(scene.otherNetwork, minute: 0, .init(replica: first, number: 4), &random),
        ]
        try await scene.statistics.write(rows)
        var changed = rows[0]
        changed.figures.latency.note(1)
        try await scene.statistics.write([changed])
        try await scene.statistics.write([])
        func read(_ network: NetworkID, minutes: Range<Int>, inHours: Bool = false) async throws -> [StatisticsRow] {
            let start = StatisticsStep.hour.beginning(of: hour)
            let found = try await scene.statistics.rows(
                of: network,
                from: start + .seconds(60 * minutes.lowerBound),
                to: start + .seconds(60 * minutes.upperBound),
                inHours: inHours,
                asked: []
            )
            return rows.filter(found.contains) + found.filter { !rows.contains($0) }
        }
        #expect(try await read(scene.network, minutes: 0..<1) == Array(rows[..<3]))
        #expect(try await read(scene.network, minutes: 1..<2) == [rows[3]])
        #expect(try await read(scene.network, minutes: 2..<60).isEmpty)
        #expect(try await read(scene.otherNetwork, minutes: 0..<60) == [rows[4]])
        #expect(try await read(scene.network, minutes: 0..<60, inHours: true) == Array(rows[..<4]))
    }

    @Test func `minutes and hours say the same`() async throws {
        var random = SplitMix(state: 2)
        let replica = UUID()
        var rows: [StatisticsRow] = []
        for number in 0..<20 {
            rows.append(
                row(scene.network, minute: number * 7, .init(replica: replica, number: Int64(number)), &random)
            )
        }
        try await scene.statistics.write(rows)
        let reader = StatisticsReader(recorder: StatisticsRecorder(), store: scene.statistics)
        let start = StatisticsStep.hour.beginning(of: hour)
        func points(_ step: StatisticsStep) async throws -> [StatisticsPoint] {
            try await reader.points(of: scene.network, from: start, to: start + .seconds(3 * 3600), step: step)
        }
        let minutes = try await points(.minute)
        #expect(minutes == rows.map { StatisticsPoint(at: $0.at, figures: $0.figures) })
        for hour in try await points(.hour) {
            var sum = StatisticsFigures()
            for minute in minutes where StatisticsStep.hour.beginning(of: minute.at) == hour.at {
                sum.add(minute.figures)
            }
            #expect(hour.figures == sum)
        }
        #expect(try await points(.hour).count == 3)
    }
}
