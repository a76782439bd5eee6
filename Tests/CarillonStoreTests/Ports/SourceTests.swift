@testable import CarillonCore
import CarillonTesting
import CarillonWebhooks
import Testing

private let everyMinute = SourceSettings(url: "https://backend.example/poll?x=1", interval: 60)

/// What ``SourceStore`` and ``SourceQueue`` promise.
@Suite(.stores) struct SourceTests {
    let scene = StoreScene.here

    private let secret = WebhookSecret.generate()

    private func put(
        _ id: SourceID,
        _ settings: SourceSettings = everyMinute,
        of network: NetworkID? = nil,
        in scene: StoreScene
    ) async throws -> (source: Source, isNew: Bool) {
        try await scene.sources.putSource(id, settings, secret: secret, of: network ?? scene.network)
    }

    private func claim(
        _ scene: StoreScene,
        limit: Int = 9,
        share: Int = 9,
        busy: [NetworkID: Int] = [:]
    ) async throws -> [ClaimedSource] {
        try await scene.polls.claimSources(limit: limit, share: share, busy: busy)
            .sorted { ($0.networkID, $0.id) < ($1.networkID, $1.id) }
    }

    @Test func `a source is stored, changed and removed`() async throws {
        #expect(try await scene.sources.sources(of: scene.network).isEmpty)
        #expect(try await put("b", in: scene).isNew)
        #expect(try await put("a", in: scene).isNew)
        #expect(try await put("a", of: scene.otherNetwork, in: scene).isNew)
        let changed = SourceSettings(url: "https://other.example", interval: 3, isEnabled: false)
        let again = try await put("a", changed, in: scene)
        #expect(!again.isNew && again.source.settings == changed)
        let listed = try await scene.sources.sources(of: scene.network)
        #expect(listed.map(\.id) == ["a", "b"] && listed.map(\.settings) == [changed, everyMinute])
        #expect(listed[1].cursor == nil && listed[1].failures == 0 && listed[1].lastPollAt == nil)
        #expect(try await scene.sources.deleteSource("a", of: scene.network))
        #expect(try await !scene.sources.deleteSource("a", of: scene.network))
        #expect(try await scene.sources.sources(of: scene.network).map(\.id) == ["b"])
        #expect(try await scene.sources.sources(of: scene.otherNetwork).count == 1)
    }

    @Test func `a network has so many sources and no more`() async throws {
        for number in 1...Source.maximumCount { _ = try await put(SourceID(trusted: "s\(number)"), in: scene) }
        await #expect(throws: TooManySources()) { _ = try await put("one more", in: scene) }
        #expect(try await !put("s1", in: scene).isNew)
        #expect(try await put("s1", of: scene.otherNetwork, in: scene).isNew)
    }

    @Test func `a source is asked by one at a time, when it is time`() async throws {
        _ = try await put("a", in: scene)
        let source = try #require(try await claim(scene).first)
        #expect(source.networkID == scene.network && source.id == "a" && source.settings == everyMinute)
        #expect(source.secret == secret && source.cursor == nil && source.failures == 0)
        #expect(try await claim(scene).isEmpty)
        try await scene.polls.release(source, after: .seconds(60), .succeeded)
        #expect(try await claim(scene).isEmpty)
        try await scene.passTime()
        let next = try #require(try await claim(scene).first)
        #expect(next.leaseToken > source.leaseToken)
        try await scene.passTime()
        #expect(try await claim(scene).count == 1, "a lease that has run out holds nobody up")
        try await scene.polls.release(next, after: .zero, .failed("late"))
        #expect(try await scene.sources.sources(of: scene.network)[0].failures == 0)
    }

    @Test func `a disabled source is not asked`() async throws {
        var settings = everyMinute
        settings.isEnabled = false
        _ = try await put("a", settings, in: scene)
        #expect(try await claim(scene).isEmpty)
        settings.isEnabled = true
        _ = try await put("a", settings, in: scene)
        #expect(try await claim(scene).count == 1)
    }

    @Test func `no network takes others' places`() async throws {
        for id in ["a", "b", "c", "d"] as [SourceID] { _ = try await put(id, in: scene) }
        _ = try await put("z", of: scene.otherNetwork, in: scene)
        #expect(try await claim(scene, limit: 0).isEmpty)
        let first = try await claim(scene, share: 2)
        #expect(first.map(\.networkID) == [scene.network, scene.network, scene.otherNetwork])
        #expect(try await claim(scene, share: 2, busy: [scene.network: 2, scene.otherNetwork: 1]).isEmpty)
        #expect(try await claim(scene, share: 2, busy: [scene.network: 1]).count == 1)
        #expect(try await claim(scene, limit: 1, share: 2).count == 1)
    }

    @Test func `a page and its cursor are stored together, once`() async throws {
        _ = try await put("a", in: scene)
        let source = try #require(try await claim(scene).first)
        let page = SourcePage(
            events: [scene.message("e1"), scene.message("e2")],
            cursor: "c1",
            skippedItems: 2,
            error: "odd"
        )
        let accepted = try #require(try await scene.polls.accept(page, from: source))
        #expect(accepted.count == 2)
        var stored = try await scene.sources.sources(of: scene.network)[0]
        #expect(stored.cursor == "c1" && stored.skippedItems == 2 && stored.lastError == "odd")
        #expect(stored.lastPollAt != nil)
        let again = SourcePage(events: [scene.message("e2"), scene.message("e3")], cursor: nil)
        let second = try #require(try await scene.polls.accept(again, from: source))
        if case .accepted = second[0] { Issue.record("was known") }
        if case .duplicate = second[1] { Issue.record("was new") }
        stored = try await scene.sources.sources(of: scene.network)[0]
        #expect(stored.cursor == "c1" && stored.lastError == nil)
        #expect(try await scene.inbox.claimEvents(limit: 9).map(\.event.sourceID).sorted() == ["e1", "e2", "e3"])
        try await scene.polls.release(source, after: .zero, .succeeded)
        #expect(try await claim(scene).first?.cursor == "c1")
    }

    @Test func `what a source answers whose settings have changed is not stored`() async throws {
        _ = try await put("a", in: scene)
        let source = try #require(try await claim(scene).first)
        _ = try await put("a", in: scene)
        let page = SourcePage(events: [scene.message("e1")], cursor: "c1")
        #expect(try await scene.polls.accept(page, from: source) == nil)
        try await scene.polls.release(source, after: .seconds(60), .failed("late"))
        let stored = try await scene.sources.sources(of: scene.network)[0]
        #expect(stored.cursor == nil && stored.failures == 0)
        #expect(try await scene.inbox.claimEvents(limit: 9).isEmpty)
        let next = try #require(try await claim(scene).first)
        #expect(try await scene.sources.deleteSource("a", of: scene.network))
        #expect(try await scene.polls.accept(page, from: next) == nil)
        #expect(try await scene.inbox.claimEvents(limit: 9).isEmpty)
    }

    @Test func `failures are counted until one answer is good`() async throws {
        _ = try await put("a", in: scene)
        for count in 1...2 {
            let source = try #require(try await claim(scene).first)
            #expect(source.failures == count - 1)
            try await scene.polls.release(source, after: .zero, .failed("http 500"))
        }
        var stored = try await scene.sources.sources(of: scene.network)[0]
        #expect(stored.failures == 2 && stored.lastError == "http 500" && stored.lastPollAt != nil)
        var source = try #require(try await claim(scene).first)
        try await scene.polls.release(source, after: .zero, .undecided)
        stored = try await scene.sources.sources(of: scene.network)[0]
        #expect(stored.failures == 2 && stored.lastError == "http 500")
        source = try #require(try await claim(scene).first)
        try await scene.polls.release(source, after: .zero, .deferred("waits"))
        stored = try await scene.sources.sources(of: scene.network)[0]
        #expect(stored.failures == 2 && stored.lastError == "waits")
        source = try #require(try await claim(scene).first)
        _ = try await scene.polls.accept(SourcePage(events: [], cursor: nil), from: source)
        try await scene.polls.release(source, after: .zero, .succeeded)
        stored = try await scene.sources.sources(of: scene.network)[0]
        #expect(stored.failures == 0 && stored.lastError == nil)
    }
}

extension StoreScene {
    /// A message on its way in.
    fileprivate func message(_ id: String) -> IncomingEvent {
        var event = Event(sourceID: id, type: .messageSent, timestamp: .seconds(1))
        event.channel = Channel(id: "c")
        event.actor = Person(id: "a")
        event.message = Message(id: id, kind: .text, text: "x")
        return incoming(event, receivedAt: .seconds(1))
    }
}
