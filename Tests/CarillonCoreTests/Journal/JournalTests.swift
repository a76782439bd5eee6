import CarillonTesting
import ServiceLifecycle
import Synchronization
import Testing

@testable import CarillonCore

@Suite struct JournalTests {
    private struct Away: Error {}

    /// A time that goes on with each look at it.
    private final class Time: Sendable {
        private let milliseconds = Atomic<Int64>(1_795_521_600_000)
        var clock: WallClock {
            WallClock { Timestamp(milliseconds: self.milliseconds.add(1, ordering: .relaxed).newValue) }
        }
    }

    /// What was written to each place, unless the database is away.
    private final class ScriptedStore: JournalStore {
        private let state = Mutex((isAway: false, entries: [JournalKey: [JournalEntry]](), attempts: 0))

        /// How often something was to be written.
        var attempts: Int { state.withLock(\.attempts) }

        func isAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

        func writeJournal(_ entries: [JournalKey: [JournalEntry]]) async throws -> [JournalKey] {
            try state.withLock { state in
                state.attempts += 1
                if state.isAway { throw Away() }
                for (key, news) in entries {
                    let former = state.entries[key, default: []]
                    let known = Set(former.map(\.id))
                    let all = former.suffix(Journal.depth) + news.filter { !known.contains($0.id) }
                    state.entries[key] = all.sorted { EventID($0.id) < EventID($1.id) }
                }
                return Array(entries.keys)
            }
        }

        func journal(of key: JournalKey, limit: Int) async throws -> [JournalEntry] {
            try state.withLock { state in
                if state.isAway { throw Away() }
                return state.entries[key, default: []].suffix(limit).reversed()
            }
        }
    }

    private let store = ScriptedStore()
    private let time = Time()

    private func journal() -> Journal { Journal(store: store, clock: time.clock, logger: TestDatabase.logger) }

    private func note(_ reason: String) -> JournalNote {
        JournalNote(operation: "refused", status: 400, reason: reason)
    }

    private func reasons(
        _ journal: Journal,
        _ name: String = "a",
        in network: NetworkID = "acme"
    ) async throws -> [String] {
        try await journal.entries(of: name, in: network).compactMap(\.note.reason)
    }

    /// What is in the store, of all that has been written there.
    private func written(_ name: String = "a", in network: NetworkID = "acme") async throws -> [String] {
        let entries = try await store.journal(of: JournalKey(name, in: network), limit: 10_000)
        return entries.reversed().compactMap(\.note.reason)
    }

    @Test func `an entry is shown at once here, and elsewhere when it is written, in the order of time`() async throws {
        let (one, two) = (journal(), journal())
        one.record(note("1"), of: "a", in: "acme")
        one.record(note("elsewhere"), of: "b", in: "acme")
        one.record(note("others'"), of: "a", in: "other")
        #expect(try await reasons(one) == ["1"])
        #expect(try await reasons(two) == [])
        await one.write()
        #expect(try await reasons(two) == ["1"])
        two.record(note("2"), of: "a", in: "acme")
        await two.write()
        one.record(note("3"), of: "a", in: "acme")
        #expect(try await reasons(one) == ["3", "2", "1"])
        #expect(try await reasons(two) == ["2", "1"])
        await one.write()
        await one.write()
        #expect(try await reasons(two) == ["3", "2", "1"])
        #expect(try await reasons(two, "b") == ["elsewhere"])
        #expect(try await reasons(two, in: "other") == ["others'"])
    }

    @Test func `the last fifty are shown, and more to those who ask for them`() async throws {
        let journal = journal()
        for number in 0..<40 { journal.record(note("\(number)"), of: "a", in: "acme") }
        await journal.write()
        for number in 40..<80 { journal.record(note("\(number)"), of: "a", in: "acme") }
        let newest = (30..<80).reversed().map { "\($0)" }
        #expect(try await reasons(journal) == newest)
        #expect(try await journal.entries(of: "a", in: "acme", limit: Journal.depth).count == 80)
    }

    @Test func `a flood of one network writes a bounded number, and pushes out nobody else's`() async throws {
        let journal = journal()
        journal.record(note("theirs"), of: "a", in: "other")
        journal.record(note("quiet"), of: "quiet", in: "acme")
        for number in 0..<20_000 { journal.record(note("\(number)"), of: "flooded-\(number % 5)", in: "acme") }
        journal.record(note("late"), of: "late", in: "acme")
        await journal.write()
        var count = 0
        for name in (0..<5).map({ "flooded-\($0)" }) + ["quiet", "late"] { count += try await written(name).count }
        #expect(count == Journal.mostOfNetwork)
        #expect(try await written("flooded-4").last == "19999")
        #expect(try await written("quiet") == ["quiet"])
        #expect(try await written("late") == ["late"])
        #expect(try await written(in: "other") == ["theirs"])
    }

    @Test func `what waits of all networks is bounded, and whoever has something waiting keeps the last of it`()
        async throws
    {
        let journal = journal()
        let networks = (0..<Journal.capacity + 10).map { NetworkID(trusted: "n\($0)") }
        for network in networks { journal.record(note("1"), of: "a", in: network) }
        journal.record(note("2"), of: "a", in: networks[0])
        #expect(try await reasons(journal, in: networks[0]) == ["2"])
        #expect(try await reasons(journal, in: networks[Journal.capacity]) == [], "no room")
        await journal.write()
        journal.record(note("3"), of: "a", in: networks[Journal.capacity])
        #expect(try await reasons(journal, in: networks[Journal.capacity]) == ["3"])
    }

    @Test func `no more of a place is written at once than is shown of it`() async throws {
        let journal = journal()
        for number in 0..<3 * Journal.depth { journal.record(note("\(number)"), of: "a", in: "acme") }
        for number in 0..<3 * Journal.depth {
            journal.record(note("\(number)"), of: "long", in: "acme", limit: Journal.depth)
        }
        await journal.write()
        #expect(try await written().count == Journal.page)
        #expect(try await written("long").count == Journal.depth)
    }

    @Test func `where all that may wait is waiting, the network with most of it makes room for another`() async throws {
        let journal = journal()
        let networks = (0..<Journal.capacity / Journal.mostOfNetwork).map { NetworkID(trusted: "n\($0)") }
        for network in networks {
            for number in 0..<Journal.mostOfNetwork {
                journal.record(note("\(number)"), of: "place-\(number / Journal.page)", in: network)
            }
        }
        for number in 0..<3 { journal.record(note("\(number)"), of: "a", in: "late") }
        #expect(try await reasons(journal, in: "late") == ["2", "1", "0"])
        await journal.write()
        var count = 0
        for network in networks {
            for place in 0..<Journal.mostOfNetwork / Journal.page {
                count += try await written("place-\(place)", in: network).count
            }
        }
        #expect(count == Journal.capacity - 3)
    }

    @Test func `a database that is away costs entries beyond what waits, and no request`() async throws {
        let journal = journal()
        store.isAway(true)
        for number in 0..<Journal.page + 5 { journal.record(note("\(number)"), of: "a", in: "acme") }
        await journal.write()
        await #expect(throws: Away.self) { try await reasons(journal) }
        store.isAway(false)
        journal.record(note("last"), of: "a", in: "acme")
        await journal.write()
        #expect(try await written() == (6..<Journal.page + 5).map { "\($0)" } + ["last"])
    }

    @Test func `what waits is written soon, and again and again until it is; what comes later, too`() async throws {
        let journal = journal()
        store.isAway(true)
        let running = Task { try await journal.run() }
        defer { running.cancel() }
        journal.record(note("1"), of: "a", in: "acme")
        try await eventually("it is tried") { store.attempts > 0 }
        store.isAway(false)
        try await eventually("it is written") { try await written() == ["1"] }
        let attempts = store.attempts
        journal.record(note("2"), of: "a", in: "acme")
        try await eventually("the next one is written") { try await written() == ["1", "2"] }
        #expect(store.attempts == attempts + 1)
    }

    @Test func `what is left is written when the service stops`() async throws {
        let journal = journal()
        let group = ServiceGroup(services: [journal], logger: TestDatabase.logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            journal.record(note("last"), of: "a", in: "acme")
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(try await written() == ["last"])
    }

    @Test func `reasons and names are cut between characters, and of many events the first are named`() {
        let events = (0..<20).map { _ in EventID(UUIDv7Generator().next()) }
        let long = String(repeating: "é", count: 600)
        #expect(JournalNote(operation: "x", status: 1, reason: "a\u{0}b").reason == "ab", "no JSON text may hold that")
        let note = JournalNote(operation: "x", status: 1, reason: long, eventIDs: events, channel: long, messageID: "m")
        #expect(note.reason == String(repeating: "é", count: 256) && note.channel == note.reason)
        #expect(note.eventIDs == Array(events.prefix(16)) && JournalNote(stored: note.stored) == note)
        #expect(JournalNote(stored: "{}") == nil && JournalNote(stored: "") == nil)
    }
}
