package import CarillonCore

extension MemoryStore: JournalStore {
    /// Writes entries, those that were written before as they are, and forgets older ones of the same places.
    package func writeJournal(_ entries: [JournalPlace: [JournalEntry]]) async throws {
        try withState { state in
            for (place, news) in entries {
                let former = state.journal[place, default: []]
                let known = Set(former.map(\.id))
                let all = former.suffix(Journal.depth) + news.filter { !known.contains($0.id) }
                state.journal[place] = all.sorted { EventID($0.id) < EventID($1.id) }
            }
        }
    }

    /// The last entries of a place, at most so many, the newest first.
    package func journal(of place: JournalPlace, limit: Int) async throws -> [JournalEntry] {
        try withState { $0.journal[place, default: []].suffix(limit).reversed() }
    }
}
