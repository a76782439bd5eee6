/// Lanes in which reports were believed that should not have been, and are to be undone: their brake has just gone on, or
/// their credential was changed.
///
/// Twice: soon, and once more when the last pages from before are certain to be written.
struct LateBrakes {
    private static let delays: [Duration] = [.seconds(1), .seconds(15)]
    private static let mostEntries = 10_000

    private var entries: [(lane: Lane, since: Timestamp, due: ContinuousClock.Instant)] = []

    /// Notes that reports since a moment are to be undone.
    mutating func note(_ lane: Lane, since: Timestamp, at now: ContinuousClock.Instant) {
        guard entries.count < Self.mostEntries else { return }
        entries += Self.delays.map { (lane, since, now + $0) }
    }

    /// Forgets lanes whose reports have turned out to be true.
    mutating func forget(_ lanes: some Sequence<Lane>) {
        let lanes = Set(lanes)
        if !lanes.isEmpty { entries.removeAll { lanes.contains($0.lane) } }
    }

    /// Takes the lanes out whose time has come, with the moment since when they were believed too much.
    mutating func takeDue(at now: ContinuousClock.Instant) -> [Lane: Timestamp] {
        let due = entries.filter { $0.due <= now }
        if !due.isEmpty { entries.removeAll { $0.due <= now } }
        return Dictionary(due.map { ($0.lane, $0.since) }, uniquingKeysWith: min)
    }
}
