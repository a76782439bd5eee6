/// Why a benchmark has no result, in plain words.
struct BenchmarkFailure: Error, CustomStringConvertible {
    /// The reason.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
