import Foundation
import Testing

@testable import CarillonCore

@Suite struct QuietHoursTests {
    private func window(_ from: Int, _ to: Int, _ zone: String = "UTC") throws -> QuietHours {
        let timeZone = try #require(TimeZone(identifier: zone))
        return try #require(QuietHours(from: from, to: to, timeZone: timeZone))
    }

    private func moment(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

    @Test(arguments: [
        ("2026-01-10T08:59:59.999Z", false), ("2026-01-10T09:00:00.000Z", true),
        ("2026-01-10T16:59:59.999Z", true), ("2026-01-10T17:00:00.000Z", false),
    ])
    func `from is inside, to is not`(time: String, isQuiet: Bool) throws {
        #expect(try window(9 * 60, 17 * 60).contains(moment(time)) == isQuiet)
    }

    @Test(arguments: [
        ("2026-01-10T21:59:59.000Z", false), ("2026-01-10T22:00:00.000Z", true), ("2026-01-10T23:59:59.000Z", true),
        ("2026-01-11T00:00:00.000Z", true), ("2026-01-11T06:59:59.000Z", true), ("2026-01-11T07:00:00.000Z", false),
    ])
    func `a window can go over midnight`(time: String, isQuiet: Bool) throws {
        #expect(try window(22 * 60, 7 * 60).contains(moment(time)) == isQuiet)
    }

    @Test func `the wall clocks are those of the time zone`() throws {
        // 22:00 to 07:00 in Bangkok is 15:00 to 00:00 in UTC.
        let window = try window(22 * 60, 7 * 60, "Asia/Bangkok")
        #expect(try !window.contains(moment("2026-01-10T14:59:59.000Z")))
        #expect(try window.contains(moment("2026-01-10T15:00:00.000Z")))
        #expect(try window.contains(moment("2026-01-10T23:59:59.000Z")))
        #expect(try !window.contains(moment("2026-01-11T00:00:00.000Z")))
    }

    @Test(arguments: [
        ("2026-03-28T22:00:00.000Z", true), ("2026-03-29T21:00:00.000Z", true), ("2026-03-28T21:30:00.000Z", true),
    ])
    func `daylight saving moves the window with the clocks`(time: String, isQuiet: Bool) throws {
        // Berlin changes from +01:00 to +02:00 on 2026-03-29: 22:30 is 21:30 UTC before and 20:30 UTC after.
        let window = try window(22 * 60 + 30, 7 * 60, "Europe/Berlin")
        #expect(try window.contains(moment(time)) == isQuiet)
        #expect(try !window.contains(moment("2026-03-28T20:45:00.000Z")))
        #expect(try window.contains(moment("2026-03-29T20:45:00.000Z")))
    }

    @Test func `moments before 1970 have a time of day too`() {
        let window = QuietHours(from: 0, to: 60, timeZone: .gmt)
        #expect(window?.contains(Timestamp(milliseconds: -86_400_000 + 1)) == true)
        #expect(window?.contains(Timestamp(milliseconds: -1)) == false)
    }

    @Test(arguments: [(60, 60), (-1, 60), (0, 1440), (1440, 0)])
    func `equal or impossible times are no window`(from: Int, to: Int) {
        #expect(QuietHours(from: from, to: to, timeZone: .gmt) == nil)
    }
}
