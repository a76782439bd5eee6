import struct Foundation.UUID

/// The rows that are to be written, in the order of their numbers, which rise.
///
/// Rows go in any order: those of a placement that is away stay, and others are written meanwhile. What it takes to look through them goes
/// by how many there are, and not by how many there have been.
struct StatisticsBacklog: Sendable {
    /// How many numbers of rows that went are kept beside those of as many that are there.
    private static let slack = 1000

    private var rows: [Int64: StatisticsRow] = [:]
    /// The numbers of all rows, and of some that went; the first is a row's.
    private var order: ArraySlice<Int64> = []
    private var numbers: [NetworkID: Set<Int64>] = [:]
    private var lastNumber: Int64 = 0

    var count: Int { rows.count }
    var all: some Sequence<StatisticsRow> { rows.values }
    /// How many numbers are looked at to see all rows.
    var span: Int { order.count }

    func rows(of network: NetworkID) -> [StatisticsRow] { numbers[network, default: []].compactMap { rows[$0] } }

    /// The first rows that are meant, at most so many.
    func first(_ limit: Int, where isMeant: (StatisticsRow) -> Bool) -> [StatisticsRow] {
        var found: [StatisticsRow] = []
        for number in order {
            guard found.count < limit else { break }
            if let row = rows[number], isMeant(row) { found.append(row) }
        }
        return found
    }

    mutating func append(_ row: StatisticsRow, of replica: UUID) {
        lastNumber += 1
        var row = row
        row.origin = StatisticsRow.Origin(replica: replica, number: lastNumber)
        rows[lastNumber] = row
        order.append(lastNumber)
        numbers[row.networkID, default: []].insert(lastNumber)
    }

    mutating func remove(_ number: Int64) {
        guard let row = rows.removeValue(forKey: number) else { return }
        numbers[row.networkID]?.remove(number)
        if numbers[row.networkID]?.isEmpty == true { numbers[row.networkID] = nil }
        while let first = order.first, rows[first] == nil { order.removeFirst() }
        if order.count > 2 * rows.count + Self.slack { order = order.filter { rows[$0] != nil }[...] }
    }

    mutating func removeFirst() {
        if let first = order.first { remove(first) }
    }

    mutating func removeAll(of network: NetworkID) {
        for number in numbers[network] ?? [] { remove(number) }
    }
}
