import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonCore
@testable import CarillonStore

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
            rows.append(row(scene.network, minute: number * 7, .init(replica: replica, number: Int64(number)), &random))
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

/// Whose figures they are.
@Suite(.stores) struct StatisticsOfSuccessorTests {
    private let scene = StoreScene.here
    private let time = ManualTime(.now)

    private func write(_ recorder: StatisticsRecorder) async {
        let writer = StatisticsWriter(recorder: recorder, log: scene.statistics, logger: TestDatabase.logger)
        await writer.write(includingThisMinute: true)
    }

    /// The times that were counted in a network.
    private func times(_ recorder: StatisticsRecorder, in network: NetworkID) async throws -> [Int64?] {
        let reader = StatisticsReader(recorder: recorder, store: scene.statistics)
        let now = time.clock.now()
        return try await reader.points(of: network, from: now - .seconds(3_600), to: now + .seconds(60), step: .minute)
            .map { $0.figures.latency.percentile(50) }
    }

    @Test func `what a replica has counted of a deleted network is not its successor's`() async throws {
        let recorder = StatisticsRecorder(clock: time.clock)
        for network in [scene.network, scene.otherNetwork] { recorder.add(to: network) { $0.latency.note(7) } }
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        time.advance(by: .seconds(5))
        try await scene.accounts.createNetwork(Network(id: scene.network, createdAt: time.clock.now()))
        await write(recorder)
        #expect(try await times(recorder, in: scene.network) == [])
        #expect(try await times(recorder, in: scene.otherNetwork) == [7])
        time.advance(by: .milliseconds(-500))
        recorder.add(to: scene.network) { $0.latency.note(8) }
        await write(recorder)
        #expect(try await times(recorder, in: scene.network) == [8])
    }

    @Test func `what was counted of a network that is gone is not written`() async throws {
        let recorder = StatisticsRecorder(clock: time.clock)
        recorder.add(to: scene.network) { $0.latency.note(7) }
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        await write(recorder)
        #expect(try await scene.pool.count("statistics_minutes") == 0)
        #expect(recorder.unwritten().isEmpty)
    }
}

@Suite(.stores) struct StatisticsSweepTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `minutes are added up to hours once, also those that come late, and go by their age`() async throws {
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
        let clock = WallClock { now + .seconds(400) }
        let sweep = StatisticsSweep(pool: pool, clock: clock, logger: TestDatabase.logger, batchSize: 2)
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
        try await pool.housekeeper().sweep()
        let minutes = try await reader.points(
            of: scene.network,
            from: now - .seconds(10 * 86_400),
            to: now - .seconds(8 * 86_400),
            step: .minute
        )
        #expect(minutes.isEmpty)
        #expect(try await days() == Array(old.dropFirst()))
    }

    @Test func `a row that cannot be read keeps no other from being added up`() async throws {
        let now = StatisticsStep.hour.beginning(of: .now)
        var figures = StatisticsFigures()
        figures.latency.note(7)
        for (network, number) in [(scene.network, 1), (scene.otherNetwork, 2), (scene.otherNetwork, 3)] {
            let origin = StatisticsRow.Origin(replica: UUID(), number: Int64(number))
            let at = now - .seconds(7200)
            let row = StatisticsRow(networkID: network, at: at, origin: origin, figures: figures)
            try await scene.statistics.write([row])
        }
        try await pool.execute("UPDATE statistics_minutes SET figures = 'broken' WHERE number < 3")
        let reader = StatisticsReader(recorder: StatisticsRecorder(), store: scene.statistics)
        func hour() async throws -> [StatisticsFigures] {
            let (from, to) = (now - .seconds(7200), now)
            return try await reader.points(of: scene.otherNetwork, from: from, to: to, step: .hour).map(\.figures)
        }
        #expect(try await hour() == [figures])
        let sweep = StatisticsSweep(pool: pool, clock: WallClock { now + .seconds(400) }, logger: TestDatabase.logger)
        try await sweep.sweep()
        #expect(try await hour() == [figures])
        let left = try await pool.first("SELECT count(*) FROM statistics_minutes WHERE NOT rolled", as: Int.self)
        #expect(left == 0)
    }

    @Test func `what is added up before its writer knows that it is written is answered once`() async throws {
        let now = StatisticsStep.hour.beginning(of: .now)
        try await pool.execute("UPDATE networks SET created_at = 'epoch'")
        let recorder = StatisticsRecorder(clock: WallClock { now - .seconds(7200) })
        recorder.add(to: scene.network) { $0.latency.note(7) }
        let rows = recorder.rowsToWrite(includingThisMinute: true, limit: 10)
        try await scene.statistics.write(rows)
        let sweep = StatisticsSweep(pool: pool, clock: WallClock { now + .seconds(400) }, logger: TestDatabase.logger)
        try await sweep.sweep()
        let reader = StatisticsReader(recorder: recorder, store: scene.statistics)
        for step in StatisticsStep.allCases {
            let (from, to) = (StatisticsStep.day.beginning(of: now - .seconds(7200)), now)
            let points = try await reader.points(of: scene.network, from: from, to: to, step: step)
            #expect(points.map(\.figures) == rows.map(\.figures), "\(step)")
        }
    }
}
