import CarillonTesting
import Foundation
import Synchronization
import Testing

@testable import CarillonCore

@Suite struct StatisticsRecorderTests {
    /// Rows in the order in which they were written, unless the database is away.
    private final class ScriptedStore: StatisticsStore, StatisticsLog {
        private let state = Mutex((isAway: false, rows: [StatisticsRow]()))

        func isAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

        func write(_ rows: [StatisticsRow]) async throws {
            try state.withLock { state in
                if state.isAway { throw StoreAway() }
                for row in rows where !state.rows.contains(where: { $0.origin == row.origin }) {
                    state.rows.append(row)
                }
            }
        }

        func rows(
            of network: NetworkID,
            from: Timestamp,
            to: Timestamp,
            inHours: Bool,
            asked: [StatisticsRow]
        ) async throws -> [StatisticsRow] {
            state.withLock { $0.rows.filter { $0.networkID == network && from <= $0.at && $0.at < to } }
        }
    }

    private static func accepted(_ count: Int) -> StatisticsFigures {
        var figures = StatisticsFigures()
        figures.events[.messageSent, default: .init()].accepted = count
        return figures
    }

    private let time = ManualTime(.seconds(0))
    private let store = ScriptedStore()

    private func points(_ reader: StatisticsReader) async throws -> [Int?] {
        let now = time.clock.now()
        let points = try await reader.points(
            of: "acme",
            from: now - .seconds(86_400),
            to: now + .seconds(86_400),
            step: .minute
        )
        return points.map { $0.figures.events[.messageSent]?.accepted }
    }

    @Test func `minutes in which nothing came of what was posted are left out`() async throws {
        let recorder = StatisticsRecorder(clock: time.clock)
        var refused = StatisticsFigures()
        refused.posts["events", default: .init()].all = 3
        recorder.add(["acme": refused])
        time.advance(by: .seconds(60))
        recorder.add(["acme": Self.accepted(1)])
        #expect(try await points(StatisticsReader(recorder: recorder, store: store)) == [1])
    }

    @Test func `a minute is written once it is over, and figures are answered at once`() async throws {
        let recorder = StatisticsRecorder(clock: time.clock)
        let reader = StatisticsReader(recorder: recorder, store: store)
        let writer = StatisticsWriter(recorder: recorder, log: store, logger: TestDatabase.logger)
        let elsewhere = StatisticsReader(recorder: StatisticsRecorder(clock: time.clock), store: store)
        recorder.add(["acme": Self.accepted(1), "other": Self.accepted(7)])
        recorder.add(["acme": Self.accepted(2)])
        await writer.write(includingThisMinute: false)
        #expect(try await points(reader) == [3])
        #expect(try await points(elsewhere) == [])
        time.advance(by: .seconds(60))
        recorder.add(["acme": Self.accepted(4)])
        await writer.write(includingThisMinute: false)
        #expect(try await points(reader) == [3, 4])
        #expect(try await points(elsewhere) == [3])
        await writer.write(includingThisMinute: true)
        #expect(try await points(elsewhere) == [3, 4])
        // Also of a minute that is written already, and by a clock that was set back, nothing is lost.
        recorder.add(["acme": Self.accepted(8)])
        time.advance(by: .seconds(-60))
        recorder.add(["acme": Self.accepted(16)])
        await writer.write(includingThisMinute: true)
        #expect(try await points(reader) == [19, 12])
        #expect(try await points(elsewhere) == [19, 12])
    }

    @Test func `what cannot be written is kept, up to a bound, and not written twice`() async throws {
        let recorder = StatisticsRecorder(clock: time.clock, capacity: 2)
        let reader = StatisticsReader(recorder: recorder, store: store)
        let writer = StatisticsWriter(recorder: recorder, log: store, logger: TestDatabase.logger)
        store.isAway(true)
        for count in [1, 2, 4, 8] {
            recorder.add(["acme": Self.accepted(count)])
            await writer.write(includingThisMinute: false)
            time.advance(by: .seconds(60))
        }
        store.isAway(false)
        let rows = recorder.rowsToWrite(includingThisMinute: true, limit: 10)
        #expect(rows.count == 2)
        // The answer to this write was lost.
        try await store.write(rows)
        await writer.write(includingThisMinute: true)
        #expect(try await points(reader) == [4, 8])
        #expect(recorder.unwritten(of: "acme").isEmpty)
    }

    @Test func `what a network did is forgotten with it, and nothing else`() async throws {
        let recorder = StatisticsRecorder(clock: time.clock)
        for count in [1, 2] {
            recorder.add(["acme": Self.accepted(count), "other": Self.accepted(count)])
            time.advance(by: .seconds(60))
        }
        recorder.forget("acme")
        #expect(recorder.unwritten(of: "acme").isEmpty)
        #expect(Set(recorder.rowsToWrite(includingThisMinute: true, limit: 10).map(\.networkID)) == ["other"])
        recorder.add(["acme": Self.accepted(4)])
        #expect(recorder.unwritten(of: "acme").map(\.begunAt) == [time.clock.now()])
    }
}

@Suite struct StatisticsBacklogTests {
    private func row(_ network: NetworkID) -> StatisticsRow {
        StatisticsRow(networkID: network, at: .seconds(0), origin: nil, figures: StatisticsFigures())
    }

    @Test func `what it takes to look through it goes by what is kept, not by what came and went behind that`() {
        var backlog = StatisticsBacklog()
        let replica = UUID()
        var (found, longest) = (0, 0)
        backlog.append(row("away"), of: replica)
        for _ in 0..<20_000 {
            backlog.append(row("acme"), of: replica)
            let next = backlog.first(10) { $0.networkID != "away" }
            found += next.count
            for row in next { backlog.remove(row.origin?.number ?? 0) }
            longest = max(longest, backlog.span)
        }
        #expect(found == 20_000)
        #expect(longest <= 2 * backlog.count + 1000)
        #expect(backlog.first(10) { _ in true }.map(\.origin?.number) == [1])
        backlog.removeFirst()
        #expect(backlog.span == 0 && backlog.count == 0)
    }

    @Test func `rows are answered in the order of their numbers, whichever went before`() {
        var backlog = StatisticsBacklog()
        for network: NetworkID in ["a", "b", "a", "c", "b", "a"] { backlog.append(row(network), of: UUID()) }
        func numbers(_ limit: Int = 10) -> [Int64?] { backlog.first(limit) { _ in true }.map(\.origin?.number) }
        #expect(numbers() == [1, 2, 3, 4, 5, 6] && numbers(2) == [1, 2])
        backlog.remove(4)
        backlog.removeFirst()
        #expect(numbers() == [2, 3, 5, 6])
        backlog.removeAll(of: "b")
        #expect(numbers() == [3, 6])
        #expect(backlog.rows(of: "a").count == 2 && backlog.rows(of: "b").isEmpty)
    }
}

@Suite struct StatisticsFiguresTests {
    @Test func `times are told exactly while they are short, and closely when they are long`() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(50) == nil)
        for milliseconds in 1...60 { histogram.note(Int64(milliseconds)) }
        #expect(histogram.percentile(50) == 30 && histogram.percentile(99) == 60)
        var random = SplitMix(state: 7)
        for _ in 0..<200 {
            let time = Int64.random(in: 0...5_000_000, using: &random)
            var one = LatencyHistogram()
            one.note(time)
            let told = one.percentile(99) ?? 0
            #expect(abs(told - time) <= time / 30, "\(time) is told as \(told)")
        }
        histogram.note(.max)
        histogram.note(.min)
        #expect(histogram.counts.values.reduce(0, +) == 62)
    }

    @Test func `histograms are added up without loss`() {
        var random = SplitMix(state: 3)
        var (all, parts) = (LatencyHistogram(), [LatencyHistogram(), LatencyHistogram()])
        for index in 0..<1000 {
            let time = Int64.random(in: 0...100_000, using: &random)
            all.note(time, count: 2)
            parts[index % 2].note(time, count: 2)
        }
        parts[0].add(parts[1])
        #expect(parts[0] == all)
    }

    @Test func `figures are read as they were written`() throws {
        var random = SplitMix(state: 5)
        for _ in 0..<20 {
            let figures = StatisticsFigures.random(&random)
            #expect(StatisticsFigures(stored: figures.stored) == figures)
        }
        #expect(StatisticsFigures(stored: "") == nil)
        #expect(StatisticsFigures(stored: "[]") == nil)
        let later =
            #"{"e":{"poll.closed":[1,2,3]},"r":{"board x":[1]},"d":{"pigeon":[1],"apns":[4]},"l":[[-1,2],[3,4]],"x":1}"#
        let read = try #require(StatisticsFigures(stored: later))
        #expect(read.events[.other("poll.closed")]?.duplicate == 2)
        #expect(read.recipients.isEmpty && read.deliveries.keys.map(\.self) == [.apns])
        #expect(read.latency.counts == [3: 4])
    }
}
