struct HistogramBounds: Sendable {
    /// In ascending order, without the infinite one.
    let values: [Double]

    /// For seconds: from half a millisecond to ten seconds.
    static let seconds = HistogramBounds(
        values: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    )
    /// For numbers of things.
    static let sizes = HistogramBounds(values: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000])

    /// The bounds that fit a metric by its name.
    static func of(_ name: String) -> HistogramBounds { name.hasSuffix("_seconds") ? .seconds : .sizes }
}
