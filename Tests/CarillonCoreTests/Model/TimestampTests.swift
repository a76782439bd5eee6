import Foundation
import Testing

@testable import CarillonCore

@Suite struct TimestampRFC3339Tests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.001Z", 1),
            ("2026-11-20T10:00:00.000Z", 1_795_168_800_000),
            ("2026-11-20t10:00:00z", 1_795_168_800_000),
            ("2026-11-20T17:00:00+07:00", 1_795_168_800_000),
            ("2026-11-19T22:30:00-11:30", 1_795_168_800_000),
            ("2026-11-20T10:00:00-00:00", 1_795_168_800_000),
            ("2026-11-21T09:59:00+23:59", 1_795_168_800_000),
            ("2026-11-20T10:00:00.1Z", 1_795_168_800_100),
            ("2026-11-20T10:00:00.12Z", 1_795_168_800_120),
            ("2026-11-20T10:00:00.1239Z", 1_795_168_800_123),
            ("2026-11-20T10:00:00.999999999999999999999999999Z", 1_795_168_800_999),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2024-02-29T23:59:59Z", 1_709_251_199_000),
            ("2024-12-31T23:59:59Z", 1_735_689_599_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000),
            ("2016-12-31T23:59:60.5Z", 1_483_228_800_500),
            ("2001-09-09T01:46:40Z", 1_000_000_000_000),
            ("2038-01-19T03:14:08Z", 2_147_483_648_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] as [(String, Int64)]
    )
    func `reads date and time with any offset and fraction`(text: String, milliseconds: Int64) throws {
        let timestamp = try #require(Timestamp(rfc3339: text))
        #expect(timestamp.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "Z", "now", "1795168800", "2026-11-20", "10:00:00Z", "2026-11-20T10:00:00", "2026-11-20T10:00Z",
        "2026-11-20 10:00:00Z", "2026-11-20T10:00:00 Z", " 2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z ",
        "2026-11-20T10:00:00ZZ", "2026-11-20T10:00:00.Z", "2026-11-20T10:00:00,5Z", "2026-11-20T10:00:00.5",
        "2026-00-20T10:00:00Z", "2026-13-20T10:00:00Z", "2026-11-00T10:00:00Z", "2026-11-31T10:00:00Z",
        "2026-02-29T10:00:00Z", "2100-02-29T10:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T10:60:00Z",
        "2026-11-20T10:00:61Z", "2026-11-20T10:00:00+24:00", "2026-11-20T10:00:00+07:60", "2026-11-20T10:00:00+0700",
        "2026-11-20T10:00:00+07", "2026-11-20T10:00:00+7:00", "2026-1-20T10:00:00Z", "26-11-20T10:00:00Z",
        "12026-11-20T10:00:00Z", "-2026-11-20T10:00:00Z", "+2026-11-20T10:00:00Z", "2026-11-20T1O:00:00Z",
        "２０２６-11-20T10:00:00Z", "2026-11-20T10:00:00−07:00", "2026/11/20T10:00:00Z", "0001-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01", "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-00:01",
        "2026-11-20T10:00:00\u{0}Z",
    ])
    func `refuses everything else`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_795_168_800_000, "2026-11-20T10:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func `writes UTC with three decimals`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
    }

    @Test(arguments: [Int64.min, -62_167_219_200_001, 253_402_300_800_000, Int64.max])
    func `survives moments that have no four-digit year`(milliseconds: Int64) {
        #expect(Timestamp(milliseconds: milliseconds).description == "\(milliseconds) ms since 1970")
    }

    @Test func `reads what it wrote, in every month of 8030 years`() throws {
        let day: Int64 = 86_400_000
        for number in stride(from: 0, to: 2_932_897, by: 28) as StrideTo<Int64> {
            let timestamp = Timestamp(milliseconds: number * day + number * 7919 % day)
            let read = Timestamp(rfc3339: timestamp.description)
            try #require(read == timestamp)
        }
    }
}

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
