import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

@Suite struct StatisticsSweepTests {
    @Test func `minutes are added up to hours once, also those that come late, and go by their age`() async throws {
        try await withStores { scene, pool in
            var random = SplitMix(state: 4)
            let replica = UUID()
            let now = StatisticsStep.day.beginning(of: .now) + .seconds(3600)
            func write(_ number: Int64, _ ago: Duration) async throws {
                let at = StatisticsStep.minute.beginning(of: now - ago)
                let origin = StatisticsRow.Origin(replica: replica, number: number)
                let row = StatisticsRow(networkID: scene.network, at: at, origin: origin, figures: .random(&random))
                try await scene.statistics.write([row])
            }
            let reader = StatisticsReader(recorder: StatisticsRecorder(), store: scene.statistics)
            func days() async throws -> [StatisticsPoint] {
                try await reader.points(
                    of: scene.network,
                    from: StatisticsStep.day.beginning(of: now - .seconds(100 * 86_400)),
                    to: now + .seconds(86_400),
                    step: .day
                )
            }
            for number in 0..<6 { try await write(Int64(number), .seconds(number * 1500)) }
            let before = try await days()
            let sweep = StatisticsSweep(pool: pool, clock: WallClock { now + .seconds(400) })
            try await sweep.sweep()
            #expect(try await pool.count("statistics_hours") == 3)
            #expect(try await days() == before)
            try await write(10, .seconds(7200))
            let late = try await days()
            #expect(late != before)
            try await sweep.sweep()
            try await sweep.sweep()
            #expect(try await days() == late)
            // Nine days later the minutes are gone, and the hours say the same.
            try await write(20, .seconds(9 * 86_400))
            try await write(21, .seconds(91 * 86_400))
            let old = try await days()
            try await Housekeeper(pool: pool, logger: TestDatabase.logger).sweep()
            let minutes = try await reader.points(
                of: scene.network,
                from: now - .seconds(10 * 86_400),
                to: now - .seconds(8 * 86_400),
                step: .minute
            )
            #expect(minutes.isEmpty)
            #expect(try await days() == Array(old.dropFirst()))
        }
    }
}
