import Foundation
import Testing

@testable import CarillonCore

/// No moment and no span makes the arithmetic of time trap: clocks are set wrong, and numbers come from outside.
@Suite struct TimestampArithmeticTests {
    private static let edges: [Int64] = [.min, .min + 1, -1001, -1000, -1, 0, 1, 999, 1000, .max - 1, .max]

    /// Every pair of the edges, and pairs of all sizes.
    private static var pairs: [(Int64, Int64)] {
        var numbers = edges
        for shift in stride(from: 0, to: 63, by: 3) { numbers.append(.random(in: .min ... .max) >> Int64(shift)) }
        return numbers.flatMap { left in numbers.map { (left, $0) } }
    }

    @Test func `sums and differences stay within what there is`() {
        for (left, right) in Self.pairs {
            let (moment, span) = (Timestamp(milliseconds: left), Duration.milliseconds(right))
            #expect((moment + span).milliseconds == Int64(clamping: Int128(left) + Int128(right)))
            #expect((moment - span).milliseconds == Int64(clamping: Int128(left) - Int128(right)))
            let between = moment - Timestamp(milliseconds: right)
            #expect(between.wholeMilliseconds == Int64(clamping: Int128(left) - Int128(right)))
        }
    }

    @Test func `a span of seconds beyond all milliseconds is the longest there is`() {
        for seconds in Self.edges {
            let span = Duration.seconds(seconds)
            #expect(span.wholeMilliseconds == Int64(clamping: Int128(seconds) * 1000))
            #expect((Timestamp.now - span) <= .now || seconds < 0)
        }
    }

    @Test func `every moment can be written, made an id of and looked up in quiet hours`() throws {
        let zone = try #require(TimeZone(identifier: "Asia/Bangkok"))
        let quietHours = try #require(QuietHours(from: 0, to: 1, timeZone: zone))
        for (left, _) in Self.pairs {
            let moment = Timestamp(milliseconds: left)
            #expect(!moment.description.isEmpty)
            _ = UUID.version7Floor(of: moment)
            _ = quietHours.contains(moment)
            let ids = UUIDv7Generator(clock: WallClock { moment })
            #expect(ids.next() != ids.next())
        }
    }
}

extension Timestamp {
    fileprivate static let now = WallClock.system.now()
}
