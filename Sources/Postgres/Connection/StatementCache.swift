/// Which statements one connection has prepared, and which of them to give up for the next.
struct StatementCache {
    /// What makes two statements one: a text means another plan with other parameter types.
    struct Key: Hashable {
        var text: String
        var types: [UInt32]
    }

    private struct Entry {
        var name: String
        var lastUse: UInt64
    }

    private let capacity: Int
    private let prefix: String
    private var entries: [Key: Entry] = [:]
    private var clock: UInt64 = 0

    /// How many statements the server still holds that nobody will use again.
    private(set) var leftBehind = 0

    /// A connection's memory, empty yet. `mark` is a random number, which is part of all names: a pooler gives many connections one session
    /// of the server in turn, and a name that two of them use would run the other one's statement.
    init(capacity: Int, mark: UInt64) {
        self.capacity = max(1, capacity)
        prefix = "carillon_\(String(mark, radix: 36))_"
    }

    var count: Int { entries.count }

    /// Whether so many were left behind that it is time for another connection, with which the server forgets them. DEALLOCATE is a
    /// statement to a pooler, which has given them other names, and libpq has no other way before 17 (`docs/decisions/0038`).
    var isWorn: Bool { leftBehind >= capacity }

    /// The name the statement is prepared under, if it is.
    mutating func name(for key: Key) -> String? {
        guard let index = entries.index(forKey: key) else { return nil }
        clock += 1
        entries.values[index].lastUse = clock
        return entries.values[index].name
    }

    /// A name for a statement about to be prepared; never the same twice.
    mutating func makeName() -> String {
        clock += 1
        return "\(prefix)\(clock)"
    }

    /// Remembers a prepared statement, giving up the one that has gone unused the longest when there is no room.
    mutating func insert(_ key: Key, name: String) {
        if entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
            remove(oldest)
        }
        clock += 1
        entries[key] = Entry(name: name, lastUse: clock)
    }

    mutating func remove(_ key: Key) {
        if entries.removeValue(forKey: key) != nil { leftBehind += 1 }
    }

    /// Takes note that the server holds none of the statements any more.
    mutating func forgetAll() {
        entries.removeAll()
        leftBehind = 0
    }
}
