/// A moment in milliseconds since 1970 in UTC, the precision of every time in the API.
///
/// Text form: RFC 3339 with exactly three decimals and `Z`; parsing takes any offset and any number of decimals.
package struct Timestamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    package let milliseconds: Int64

    /// The beginning of 1970: before everything that anybody here was told.
    package static let epoch = Timestamp(milliseconds: 0)

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment `duration` later, cut to whole milliseconds; the last one there is where that is too late to be one.
    package static func + (left: Self, duration: Duration) -> Self {
        let span = duration.wholeMilliseconds
        let (sum, overflow) = left.milliseconds.addingReportingOverflow(span)
        return Self(milliseconds: overflow ? (span < 0 ? .min : .max) : sum)
    }

    /// The moment `duration` earlier, cut to whole milliseconds; the first one there is where that is too early to be one.
    package static func - (left: Self, duration: Duration) -> Self {
        let span = duration.wholeMilliseconds
        let (difference, overflow) = left.milliseconds.subtractingReportingOverflow(span)
        return Self(milliseconds: overflow ? (span < 0 ? .max : .min) : difference)
    }

    /// The time from `right` to `left`, negative when `left` is earlier.
    package static func - (left: Self, right: Self) -> Duration {
        .milliseconds(left.milliseconds) - .milliseconds(right.milliseconds)
    }
}

extension Timestamp? {
    /// The earlier of two moments; `nil` is never.
    package static func earlier(_ left: Self, _ right: Self) -> Self {
        [left, right].compactMap(\.self).min()
    }
}

extension Duration {
    /// This duration in milliseconds, fractions dropped; as many as there can be for one that has more.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, isTooLongInAll) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return isTooLong || isTooLongInAll ? (seconds < 0 ? .min : .max) : sum
    }
}
