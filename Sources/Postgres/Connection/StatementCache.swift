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
    private var entries: [Key: Entry] = [:]
    private var clock: UInt64 = 0

    /// Statements that the server still holds and nobody will use again.
    private(set) var orphans: [String] = []

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { entries.count }

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
        return "carillon_\(clock)"
    }

    /// Remembers a prepared statement, giving up the one that has gone unused the longest when there is no room.
    mutating func insert(_ key: Key, name: String) {
        if entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
            remove(oldest)
        }
        clock += 1
        entries[key] = Entry(name: name, lastUse: clock)
    }

    /// Gives a statement up.
    mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        orphans.append(entry.name)
    }

    /// Takes note that the server holds none of the statements any more.
    mutating func forgetAll() {
        entries.removeAll()
        orphans.removeAll()
    }

    /// Hands over the orphans, for deallocation.
    mutating func takeOrphans() -> [String] {
        defer { orphans.removeAll() }
        return orphans
    }
}
