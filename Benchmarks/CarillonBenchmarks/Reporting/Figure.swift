/// One measured number, and what it should be where something was promised.
struct Figure: Sendable {
    /// What a number has to be.
    enum Goal: Sendable {
        case atLeast(Double)
        case atMost(Double)
        case below(Double)

        func isMet(by value: Double) -> Bool {
            switch self {
            case .atLeast(let bound): value >= bound
            case .atMost(let bound): value <= bound
            case .below(let bound): value < bound
            }
        }
    }

    /// What was measured.
    let name: String
    /// The result; of repeated measurements the median.
    let value: Double
    /// For example `ms`; empty for ratios and counts.
    let unit: String
    /// The smallest and the largest of repeated measurements.
    let range: ClosedRange<Double>?
    /// What was promised.
    let goal: Goal?

    /// A number by itself.
    init(
        _ name: String,
        _ value: Double,
        _ unit: String = "",
        range: ClosedRange<Double>? = nil,
        goal: Goal? = nil
    ) {
        self.name = name
        self.value = value
        self.unit = unit
        self.range = range
        self.goal = goal
    }

    /// A number that is a count.
    init(_ name: String, count: Int, _ unit: String = "", goal: Goal? = nil) {
        self.init(name, Double(count), unit, goal: goal)
    }

    /// The median of repeated measurements.
    init(_ name: String, _ series: Series, _ unit: String = "", goal: Goal? = nil) {
        self.init(name, series.median, unit, range: series.range, goal: goal)
    }

    /// Whether the promise is kept; `nil` where there is none.
    var isMet: Bool? { goal?.isMet(by: value) }
}

/// What one benchmark found.
struct Report: Sendable {
    /// The benchmark's name.
    let benchmark: String
    /// The numbers, in the order in which they are shown.
    var figures: [Figure] = []
    /// What a reader has to know to judge them.
    var notes: [String] = []

    /// Whether anything was promised that is not so.
    var hasMissedGoals: Bool { figures.contains { $0.isMet == false } }
}
