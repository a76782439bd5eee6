import CarillonTesting
import Testing

@testable import CarillonCore

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
