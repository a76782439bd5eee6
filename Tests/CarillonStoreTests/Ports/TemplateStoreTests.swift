import CarillonCore
import CarillonTesting
import Testing

/// What ``TemplateStore`` promises.
@Suite(.stores) struct TemplateStoreTests {
    let scene = StoreScene.here

    @Test func `a network without templates has none to list or remove`() async throws {
        #expect(try await scene.templates.templates(in: scene.network).isEmpty)
        #expect(try await scene.templates.deleteTemplate(.messageSent, locale: "en", in: scene.network) == false)
    }

    @Test func `templates are read back by event type and locale`() async throws {
        let variants = TemplateWording.variants([.text: "%s", .image: "\"Image\"\n"])
        #expect(try await scene.put(.messageSent, "th", .one("B"), in: scene.network))
        #expect(try await scene.put(.messageSent, "en", variants, in: scene.network))
        #expect(try await scene.put(.channelCreated, "en", .one("C"), in: scene.network))
        let stored = try await scene.templates.templates(in: scene.network)
        #expect(stored.map(\.eventType) == [.channelCreated, .messageSent, .messageSent])
        #expect(stored.map(\.locale) == ["en", "en", "th"])
        #expect(stored.map(\.source.body) == [.one("C"), variants, .one("B")])
        #expect(stored.map(\.updatedAt) == Array(repeating: .seconds(0), count: 3))
        #expect(try await scene.templates.templates(in: scene.otherNetwork).isEmpty)
    }

    @Test func `a template is new once, replaced and removed`() async throws {
        #expect(try await scene.put(.messageSent, "en", .one("A"), in: scene.network))
        #expect(try await scene.put(.messageSent, "en", .one("B"), in: scene.network) == false)
        #expect(try await scene.templates.templates(in: scene.network).map(\.source.body) == [.one("B")])
        #expect(try await scene.templates.deleteTemplate(.messageSent, locale: "en", in: scene.network))
        #expect(try await scene.templates.deleteTemplate(.messageSent, locale: "en", in: scene.network) == false)
        #expect(try await scene.put(.messageSent, "en", .one("A"), in: scene.network))
    }

    @Test func `a network has no more templates than it may have`() async throws {
        try await scene.setLimits { $0.templates = 3 }
        let locales = ["de", "en", "fr", "it", "ja", "ko", "pl", "pt", "ru", "th"]
        let written = try await inParallel(locales.count) { number -> Bool in
            do {
                return try await scene.put(.messageSent, locales[number], .one("A"), in: scene.network)
            } catch is LimitReached {
                return false
            }
        }
        #expect(written.count { $0 } == 3)
        let stored = try await scene.templates.templates(in: scene.network)
        #expect(stored.count == 3)
        let kept = try #require(stored.first)
        #expect(try await scene.put(.messageSent, kept.locale, .one("B"), in: scene.network) == false)
        await #expect(throws: LimitReached(.templates, 3)) {
            try await scene.put(.channelCreated, "en", .one("A"), in: scene.network)
        }
        #expect(try await scene.put(.channelCreated, "en", .one("A"), in: scene.otherNetwork))
        _ = try await scene.templates.deleteTemplate(.messageSent, locale: kept.locale, in: scene.network)
        #expect(try await scene.put(.channelCreated, "en", .one("A"), in: scene.network))
    }
}

extension StoreScene {
    /// Changes how much the network may use up.
    func setLimits(_ change: @escaping @Sendable (inout NetworkLimits) -> Void) async throws {
        _ = try await accounts.updateNetwork(network) { network in
            var network = network
            change(&network.limits)
            return network
        }
    }

    fileprivate func put(
        _ type: EventType,
        _ locale: String,
        _ body: TemplateWording,
        in network: NetworkID
    ) async throws -> Bool {
        let source = TemplateSource(title: "Title", body: body)
        let template = TemplateOverride(eventType: type, locale: locale, source: source, updatedAt: .seconds(0))
        return try await templates.putTemplate(template, in: network)
    }
}

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
        let here = JournalKey("dialects/amity", in: scene.network)
        let elsewhere = JournalKey("faces/amity", in: scene.network)
        let theirs = JournalKey("dialects/amity", in: scene.otherNetwork)
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
        let (flooded, quiet) = (JournalKey("flooded", in: scene.network), JournalKey("quiet", in: scene.network))
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
