package import Foundation

/// A daily window of silence in a named time zone, over midnight where `to` is earlier than `from`.
package struct QuietHours: Sendable, Hashable {
    /// The first silent minute, counted from local midnight.
    package let from: Int
    /// The first minute that is not silent any more, counted from local midnight.
    package let to: Int
    /// An IANA time zone.
    package let timeZone: TimeZone
    /// The name by which it was asked for; Foundation calls `UTC` by another.
    let timeZoneName: String

    /// A window; `nil` when both ends are equal or outside of a day.
    package init?(from: Int, to: Int, timeZone: TimeZone, named name: String? = nil) {
        let minutesOfDay = 0..<1440
        guard from != to, minutesOfDay.contains(from), minutesOfDay.contains(to) else { return nil }
        self.from = from
        self.to = to
        self.timeZone = timeZone
        timeZoneName = name ?? timeZone.identifier
    }

    /// Whether a moment falls into the window by the wall clocks of the time zone.
    package func contains(_ moment: Timestamp) -> Bool {
        let minute = secondOfDay(moment) / 60
        return from < to ? (from..<to).contains(minute) : minute >= from || minute < to
    }

    /// When the next window begins, or a little earlier where the clocks are changed before.
    package func nextBegin(after moment: Timestamp) -> Timestamp {
        let wait = (from * 60 - secondOfDay(moment) + 86_400) % 86_400
        let begin = moment + .seconds(wait == 0 ? 86_400 : wait)
        return min(begin, begin - .seconds(offset(at: begin) - offset(at: moment)))
    }

    private func secondOfDay(_ moment: Timestamp) -> Int {
        let seconds = moment.milliseconds.flooredQuotient(by: 1000).quotient + Int64(offset(at: moment))
        return Int(seconds.flooredQuotient(by: 86_400).remainder)
    }

    private func offset(at moment: Timestamp) -> Int {
        timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000))
    }
}
