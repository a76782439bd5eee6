/// Changes to lanes on their way into the store, and readings of the store that may be older than they are.
///
/// A reading that began before a change was written shows the lane as it was before.
struct LaneChanges {
    /// Users choose the hosts of webhooks, and with them lanes: what is beyond is known to this replica alone.
    static let limit = 10_000

    private var unwritten: [ChangedLane] = []
    private var writes = 0
    /// The number of the last write of a lane, for as long as a reading is under way that began before it.
    private var written: [Lane: Int] = [:]
    /// How many writes there had been when each reading that is under way began, the oldest first.
    private var readings: [Int] = []

    var count: Int { unwritten.count }

    mutating func append(_ change: ChangedLane) {
        if unwritten.count < Self.limit { unwritten.append(change) }
    }

    /// The next to be written; they stay until ``wrote(first:)``.
    func next(_ count: Int) -> [ChangedLane] { Array(unwritten.prefix(count)) }

    /// The first changes were written.
    mutating func wrote(first count: Int) {
        wrote(unwritten.prefix(count).map(\.lane))
        unwritten.removeFirst(count)
    }

    /// These lanes were written, by whomever.
    mutating func wrote(_ lanes: [Lane]) {
        writes += 1
        guard !readings.isEmpty else { return }
        for lane in lanes { written[lane] = writes }
    }

    /// A reading begins; answers its mark for ``endReading(_:of:)``.
    mutating func beginReading() -> Int {
        readings.append(writes)
        return writes
    }

    /// A reading ended.
    ///
    /// - Parameters:
    ///   - mark: Of its beginning.
    ///   - lanes: What was read.
    /// - Returns: Those of them that have not changed since it began, and those that were written meanwhile: only a further
    ///   reading can tell what they are.
    mutating func endReading(_ mark: Int, of lanes: Set<Lane> = []) -> (current: Set<Lane>, overtaken: Set<Lane>) {
        let settled = lanes.subtracting(unwritten.lazy.map(\.lane))
        let overtaken = settled.filter { written[$0] ?? 0 > mark }
        if let index = readings.firstIndex(of: mark) { readings.remove(at: index) }
        let oldest = readings.first ?? writes
        if oldest > mark { written = written.filter { $0.value > oldest } }
        return (settled.subtracting(overtaken), overtaken)
    }
}
