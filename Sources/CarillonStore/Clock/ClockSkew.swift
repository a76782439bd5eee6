package import CarillonCore

/// How far this machine's clock is off the database's, as one look told.
package struct ClockSkew: Sendable, Equatable {
    /// How much the database's clock is ahead, in milliseconds; negative where it is behind.
    package let milliseconds: Int64
    /// How much that may be wrong by, either way: half of the time that the question took.
    package let uncertainty: Int64

    /// The farthest that the clocks of a database and its service may be apart.
    package static let tolerance: Int64 = 500

    /// A skew from what this clock showed before and after the database was asked for the time.
    package init(before: Timestamp, database: Timestamp, after: Timestamp) {
        uncertainty = max(0, after.milliseconds - before.milliseconds) / 2
        milliseconds = database.milliseconds - before.milliseconds - uncertainty
    }

    /// Whether the clocks are surely farther apart than they may be.
    package var isTooLarge: Bool { abs(milliseconds) - uncertainty > Self.tolerance }

    /// How far this database's clock is ahead of another one's, in milliseconds, where they are surely farther apart than clocks may be.
    func excess(over other: ClockSkew) -> Int64? {
        let difference = milliseconds - other.milliseconds
        return abs(difference) - uncertainty - other.uncertainty > Self.tolerance ? difference : nil
    }

    package var description: String {
        "this machine's clock is \(abs(milliseconds)) ms \(milliseconds > 0 ? "behind" : "ahead of") PostgreSQL's"
    }
}
