package import Foundation

/// A daily window of silence in a named time zone, over midnight where `to` is earlier than `from`.
package struct QuietHours: Sendable, Hashable {
    /// The first silent minute, counted from local midnight.
    package let from: Int
    /// The first minute that is not silent any more, counted from local midnight.
    package let to: Int
    /// An IANA time zone.
    package let timeZone: TimeZone

    /// A window; `nil` when both ends are equal or outside of a day.
    package init?(from: Int, to: Int, timeZone: TimeZone) {
        let minutesOfDay = 0..<1440
        guard from != to, minutesOfDay.contains(from), minutesOfDay.contains(to) else { return nil }
        self.from = from
        self.to = to
        self.timeZone = timeZone
    }

    /// Whether a moment falls into the window by the wall clocks of the time zone.
    package func contains(_ moment: Timestamp) -> Bool {
        let seconds = Int64((Double(moment.milliseconds) / 1000).rounded(.down))
        let offset = timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
        let secondOfDay = (seconds + Int64(offset)) % 86_400
        let minute = Int((secondOfDay + 86_400) % 86_400) / 60
        return from < to ? (from..<to).contains(minute) : minute >= from || minute < to
    }
}
