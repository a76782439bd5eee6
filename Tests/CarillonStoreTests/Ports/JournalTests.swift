import CarillonCore
import CarillonTesting
import Testing

/// What ``JournalStore`` promises.
@Suite(.stores) struct JournalTests {
    let scene = StoreScene.here

    private func entries(_ scene: StoreScene, _ count: Int) -> [JournalEntry] {
        (0..<count).map { number in
            let note = JournalNote(operation: "accepted", status: 200, reason: "\(number)")
            return JournalEntry(id: scene.ids.next(), note: note)
        }
    }

    @Test func `what is written is read, once and newest first, by its network and place`() async throws {
        let full = JournalNote(
            operation: "refused",
            status: 401,
            reason: "\u{0}\"é\" is 'no' name",
            eventIDs: [EventID(scene.ids.next()), EventID(scene.ids.next())],
            channel: "c:1",
            messageID: "m"
        )
        let first = JournalEntry(id: scene.ids.next(), note: full)
        let others = entries(scene, 3)
        let here = JournalPlace("dialects/amity", in: scene.network)
        let elsewhere = JournalPlace("faces/amity", in: scene.network)
        let theirs = JournalPlace("dialects/amity", in: scene.otherNetwork)
        try await scene.journal.writeJournal([:])
        try await scene.journal.writeJournal([here: [first, others[0]], elsewhere: [others[1]], theirs: [others[2]]])
        var changed = first
        changed.note.reason = "another"
        let second = entries(scene, 1)
        try await scene.journal.writeJournal([here: [changed] + second])
        #expect(try await scene.journal.journal(of: here, limit: 9) == [second[0], others[0], first])
        #expect(try await scene.journal.journal(of: here, limit: 2) == [second[0], others[0]])
        #expect(try await scene.journal.journal(of: elsewhere, limit: 9) == [others[1]])
        #expect(try await scene.journal.journal(of: theirs, limit: 9) == [others[2]])
    }

    @Test func `of each place the last are kept, and as many more as are written at once`() async throws {
        let (flooded, quiet) = (JournalPlace("flooded", in: scene.network), JournalPlace("quiet", in: scene.network))
        let rare = entries(scene, 1)
        try await scene.journal.writeJournal([quiet: rare])
        var all: [JournalEntry] = []
        for _ in 0..<5 {
            let news = entries(scene, 60)
            all += news
            try await scene.journal.writeJournal([flooded: news])
        }
        let kept = try await scene.journal.journal(of: flooded, limit: 1_000)
        #expect(kept.prefix(Journal.depth) == all.suffix(Journal.depth).reversed()[...])
        #expect(kept.count <= Journal.depth + 60)
        #expect(try await scene.journal.journal(of: quiet, limit: 9) == rare)
    }
}
