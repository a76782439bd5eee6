/// Sends in a row that were not answered in time, by lane.
struct TimeoutStreaks {
    /// So many, and the lane is tried with one at a time.
    private static let many = 10

    private var lengths: [Lane: Int] = [:]

    mutating func forget(_ lane: Lane) { lengths[lane] = nil }

    /// Counts outcomes, of endpoints all that failed; whether there were too many in a row.
    mutating func count(_ outcomes: [(target: Target, outcome: Outcome)], of lane: Lane) -> Bool {
        let isOfEndpoint = lane.endpoint != nil
        var length = lengths[lane] ?? 0
        var longest = 0
        for (_, outcome) in outcomes where !outcome.isUntold {
            length = outcome.isTimeout || isOfEndpoint && outcome.isFailure ? length + 1 : 0
            longest = max(longest, length)
        }
        if lengths.count >= LaneChanges.limit { lengths = [:] }
        lengths[lane] = length == 0 ? nil : length
        // A message that was on its way meanwhile and arrived does not make ten failures undone.
        return (isOfEndpoint ? longest : length) >= Self.many
    }
}
