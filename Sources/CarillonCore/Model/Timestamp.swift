/// A moment in milliseconds since 1970 in UTC, the precision of every time in the API.
///
/// Text form: RFC 3339 with exactly three decimals and `Z`; parsing takes any offset and any number of decimals.
package struct Timestamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    package let milliseconds: Int64

    /// A moment by its distance from 1970 in milliseconds.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The earlier moment is the smaller one.
    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment `duration` later, cut to whole milliseconds.
    package static func + (left: Self, duration: Duration) -> Self {
        Self(milliseconds: left.milliseconds + duration.wholeMilliseconds)
    }

    /// The moment `duration` earlier, cut to whole milliseconds.
    package static func - (left: Self, duration: Duration) -> Self {
        Self(milliseconds: left.milliseconds - duration.wholeMilliseconds)
    }

    /// The time from `right` to `left`, negative when `left` is earlier.
    package static func - (left: Self, right: Self) -> Duration {
        .milliseconds(left.milliseconds - right.milliseconds)
    }
}

extension Duration {
    /// This duration in milliseconds, fractions dropped.
    package var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
