/// Looks for the highest rate that can be sustained: up by halves until one cannot, then in between.
struct RateSearch: Sendable {
    private static let factor = 1.5
    private static let highest = 50_000.0

    private var narrowings: Int
    private var tooFast: Double?

    /// The rate to try next; `nil` when the search is over.
    private(set) var next: Double?

    /// The highest rate that could be sustained; `nil` when none could.
    private(set) var best: Double?

    /// A search that begins with a rate, and tries as often in between at the end as `narrowings` says.
    init(from first: Double, narrowings: Int = 3) {
        next = first
        self.narrowings = narrowings
    }

    /// Notes how the rate did that was tried last.
    mutating func tried(isSustained: Bool) {
        guard let rate = next else { return }
        if isSustained { best = rate } else { tooFast = rate }
        switch (best, tooFast) {
        case (let sustained?, let tooFast?):
            next = narrowings > 0 ? (sustained * tooFast).squareRoot() : nil
            narrowings -= 1
        case (let sustained?, nil):
            next = sustained < Self.highest ? sustained * Self.factor : nil
        case (nil, _):
            next = rate > 1 ? rate / 4 : nil
        }
    }
}
