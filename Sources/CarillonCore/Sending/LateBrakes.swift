/// Lanes whose brake has just gone on: the reports that made it were believed until then, and are to be undone.
///
/// Twice: soon, and once more when the last pages from before are certain to be written.
struct LateBrakes {
    /// How far back: as far as a brake looks, and as far as the database's clock may be behind.
    static let window = Duration.seconds(300 + 60)
    private static let delays: [Duration] = [.seconds(1), .seconds(15)]
    private static let mostEntries = 10_000

    private var entries: [(lane: Lane, due: ContinuousClock.Instant)] = []

    /// Notes that a lane's brake went on.
    mutating func note(_ lane: Lane, at now: ContinuousClock.Instant) {
        guard entries.count < Self.mostEntries else { return }
        entries += Self.delays.map { (lane, now + $0) }
    }

    /// Takes the lanes out whose time has come.
    mutating func takeDue(at now: ContinuousClock.Instant) -> Set<Lane> {
        let due = entries.filter { $0.due <= now }
        if !due.isEmpty { entries.removeAll { $0.due <= now } }
        return Set(due.map(\.lane))
    }
}
