import CarillonTesting
import Metrics
import Synchronization
import Testing

@testable import CarillonCore

/// What sources are asked, and what becomes of their answers.
@Suite(.stores) struct PollerTests {
    private static let network = NetworkID(trusted: "acme")
    private static let other = NetworkID(trusted: "other")

    /// A poller with sources whose answers are told beforehand.
    private final class Scene: Sendable {
        let store = StoreScene.here
        let caller = ScriptedSource()
        let queue: WatchedSources
        let poller: Poller

        init(rates: (any EventRates)? = nil) async throws {
            queue = WatchedSources(store: store.polls)
            let logger = TestDatabase.logger
            let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)
            let ingestor = Ingestor(
                inbox: store.inbox,
                fanout: NoEntrance(),
                ids: UUIDv7Generator(),
                clock: .system,
                metrics: metrics
            )
            poller = Poller(
                queue: queue,
                caller: caller,
                ingestor: ingestor,
                network: { [store] network in try await store.accounts.network(network) },
                rates: rates,
                ids: UUIDv7Generator(),
                clock: .system,
                egress: .unrestricted,
                metrics: PollMetrics(factory: NOOPMetricsHandler.instance),
                watch: QueueWatch(factory: NOOPMetricsHandler.instance, logger: logger),
                logger: logger
            )
            try await add("crm")
        }

        func add(_ id: SourceID, of network: NetworkID = network, url: String = "https://crm.example/p") async throws {
            let settings = SourceSettings(url: url, interval: 60)
            _ = try await store.sources.putSource(id, settings, secret: .generate(), of: network)
        }

        /// Asks whatever it is time for, one after the other; a wait is over each time.
        func pollAll() async throws {
            try await store.passTime()
            for source in await poller.claim() { await poller.ask(source) }
        }

        func source(_ id: SourceID = "crm") async throws -> Source {
            try #require(try await store.sources.sources(of: network).first { $0.id == id })
        }

        func stored() async throws -> [String] {
            try await store.inbox.claimEvents(limit: 100, excluding: []).map(\.event.sourceID).sorted()
        }
    }

    private static func page(_ ids: [String], cursor: String? = nil, more: Bool = false) -> String {
        let items = ids.map { #"{"id":"\#($0)","to":{"userIds":["u"]},"body":"x"}"# }.joined(separator: ",")
        return #"{"items":[\#(items)],"more":\#(more)\#(cursor.map { #","cursor":"\#($0)""# } ?? "")}"#
    }

    @Test(arguments: [
        (500, "", "http 500"), (302, "", "http 302"), (200, "x", "the answer is no JSON object"),
        (200, "[]", "the answer is no JSON object"), (200, "{}", "/items must be an array of at most 1000"),
        (200, #"{"items":{}}"#, "/items must be an array of at most 1000"),
        (200, #"{"items":[],"cursor":7}"#, "/cursor must be a string of at most 256 bytes"),
        (200, #"{"items":[],"more":"yes"}"#, "/more must be true or false"),
    ])
    func `what is no answer is a failure and leaves the cursor`(status: Int, body: String, error: String) async throws {
        let scene = try await Scene()
        scene.caller.answers([.success(.init(status: 200, body: Array(Self.page(["a"], cursor: "c1").utf8)))])
        try await scene.pollAll()
        scene.caller.answers([.success(.init(status: status, body: Array(body.utf8)))])
        try await scene.pollAll()
        let source = try await scene.source()
        #expect(source.failures == 1 && source.lastError == error && source.cursor == "c1")
        #expect(scene.queue.lastWait == .seconds(120))
        scene.caller.answers([.failure(.init(reason: "timed out", isTimeout: true))])
        try await scene.pollAll()
        #expect(try await scene.source().failures == 2)
        #expect(scene.queue.lastWait == .seconds(240))
        scene.caller.answers([.success(.init(status: 204, body: []))])
        try await scene.pollAll()
        #expect(try await scene.source().failures == 0)
        #expect(try await scene.source().lastError == nil)
        #expect(scene.queue.lastWait == .seconds(60))
    }

    @Test(arguments: [
        (60, 0, 60), (60, 1, 120), (60, 5, 1_920), (60, 6, 3_600), (60, 99, 3_600), (3, 11, 3_600), (7_200, 3, 7_200),
        (86_400, 60, 86_400),
    ])
    func `failures double the wait up to an hour`(interval: Int, failures: Int, seconds: Int) {
        let settings = SourceSettings(url: "", interval: interval)
        #expect(settings.wait(afterFailures: failures) == .seconds(seconds))
    }

    @Test func `an answer that is too long leaves the cursor`() async throws {
        let scene = try await Scene()
        scene.caller.answers([.success(.init(status: 200, body: nil))])
        try await scene.pollAll()
        #expect(try await scene.source().lastError == "the answer is too long")
    }

    @Test func `a page whose commit fails is asked for again, and nothing of it is there twice`() async throws {
        let scene = try await Scene()
        let answer = EndpointAnswer.Reply(status: 200, body: Array(Self.page(["a", "b"], cursor: "c1").utf8))
        scene.caller.answers([.success(answer), .success(answer), .success(answer)])
        scene.queue.failsNext()
        try await scene.pollAll()
        var source = try await scene.source()
        #expect(source.cursor == nil && source.failures == 0, "that the database is away is no fault of the source")
        #expect(try await scene.stored().isEmpty)
        try await scene.pollAll()
        source = try await scene.source()
        #expect(source.cursor == "c1")
        // The commit went through, and its answer was lost.
        try await scene.pollAll()
        #expect(try await scene.stored() == ["a", "b"])
        #expect(
            scene.caller.urls == ["https://crm.example/p", "https://crm.example/p", "https://crm.example/p?cursor=c1"]
        )
    }

    @Test func `bad items are skipped, counted and named`() async throws {
        let scene = try await Scene()
        let body = #"""
            {"items":[{"id":"good","to":{"userIds":["u"]},"body":"x"},{"to":{"userIds":["u"]},"body":"x"},7,
             {"id":"odd","type":"no.such.type"},{"id":"n","to":{"userIds":[]},"body":"x"},
             {"id":"e","type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"a"},"message":{"id":"m","text":"t"}}}],
             "cursor":"c1"}
            """#
        scene.caller.answers([.success(.init(status: 200, body: Array(body.utf8)))])
        try await scene.pollAll()
        let source = try await scene.source()
        #expect(source.skippedItems == 4 && source.failures == 0 && source.cursor == "c1")
        #expect(source.lastError == "item 1 was skipped: /id is required, and 3 more items like it")
        #expect(try await scene.stored() == ["e", "good"])
    }

    @Test func `more is asked for at once, but not for ever`() async throws {
        let scene = try await Scene()
        scene.caller.answers(
            (1...50).map { number in
                .success(
                    .init(status: 200, body: Array(Self.page(["i\(number)"], cursor: "c \(number)", more: true).utf8))
                )
            }
        )
        try await scene.pollAll()
        #expect(scene.caller.urls.count == 10)
        #expect(scene.caller.urls.last == "https://crm.example/p?cursor=c%209")
        #expect(try await scene.stored().count == 10)
        #expect(scene.queue.lastWait == .seconds(1))
    }

    @Test func `whoever says more and does not move on is asked as usual`() async throws {
        let scene = try await Scene()
        let answer = EndpointAnswer.Reply(status: 200, body: Array(Self.page(["a"], cursor: "c1", more: true).utf8))
        scene.caller.answers([.success(answer), .success(answer), .success(answer)])
        try await scene.pollAll()
        #expect(scene.caller.urls.count == 2)
        #expect(scene.queue.lastWait == .seconds(60))
    }

    private static let overRate = "waits: the network posts as much as its eventsPerSecond allow"

    @Test(arguments: [(0, 1), (4, 4), (99, 60)])
    func `a network that has posted as much as it may is not asked before it may post again`(
        wait: Int,
        waited: Int
    ) async throws {
        let rates = ScriptedRates(left: 0, wait: .seconds(wait))
        let scene = try await Scene(rates: rates)
        scene.caller.answers([.success(.init(status: 200, body: Array(Self.page(["a"], cursor: "c1").utf8)))])
        try await scene.pollAll()
        var source = try await scene.source()
        #expect(scene.caller.urls.isEmpty && scene.queue.lastWait == .seconds(waited))
        #expect(source.cursor == nil && source.failures == 0 && source.lastError == Self.overRate)
        #expect(try await scene.stored().isEmpty)
        rates.refill(to: 1)
        try await scene.pollAll()
        source = try await scene.source()
        #expect(source.cursor == "c1" && source.lastError == nil && rates.left == 0)
        #expect(try await scene.stored() == ["a"])
    }

    @Test func `a page for which a rate has too little left is asked for again when there is enough`() async throws {
        let rates = ScriptedRates(left: 1, wait: .seconds(7))
        let scene = try await Scene(rates: rates)
        let answer = EndpointAnswer.Reply(status: 200, body: Array(Self.page(["a", "b"], cursor: "c1").utf8))
        scene.caller.answers([.success(answer), .success(answer)])
        try await scene.pollAll()
        let source = try await scene.source()
        #expect(scene.caller.urls.count == 1 && scene.queue.lastWait == .seconds(7) && rates.left == 1)
        #expect(source.cursor == nil && source.failures == 0 && source.lastError == Self.overRate)
        rates.refill(to: 2)
        try await scene.pollAll()
        #expect(try await scene.stored() == ["a", "b"])
    }

    @Test func `a page that is not stored uses up nothing of the network's rate`() async throws {
        let rates = ScriptedRates(left: 2, wait: .seconds(1))
        let scene = try await Scene(rates: rates)
        let answer = EndpointAnswer.Reply(status: 200, body: Array(Self.page(["a", "b"], cursor: "c1").utf8))
        scene.caller.answers([.success(answer), .success(answer)])
        scene.queue.failsNext()
        try await scene.pollAll()
        #expect(rates.left == 2)
        try await scene.store.passTime()
        let claimed = try #require(await scene.poller.claim().first)
        try await scene.add("crm")
        await scene.poller.ask(claimed)
        #expect(rates.left == 2, "somebody else asks it by now")
        scene.caller.answers([.success(answer)])
        try await scene.pollAll()
        #expect(try await scene.stored() == ["a", "b"])
        #expect(rates.left == 0)
    }

    @Test func `browsers are reached through the network's push services only, as where notifications are posted`()
        async throws
    {
        let scene = try await Scene()
        // A point of P-256: the base point.
        let point = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
        let items = ["https://fcm.googleapis.com/x", "https://push.example/x"].enumerated().map { index, endpoint in
            """
            {"id":"n-\(index)","body":"x","to":{"addresses":[{"provider":"webpush","subscription":{"endpoint":"\(endpoint)",
             "keys":{"p256dh":"\(point)","auth":"BwcHBwcHBwcHBwcHBwcHBw"}}}]}}
            """
        }
        let all = items.joined(separator: ",")
        let body = #"{"items":[\#(all)],"cursor":"c1"}"#
        scene.caller.answers([.success(.init(status: 200, body: Array(body.utf8)))])
        try await scene.pollAll()
        let source = try await scene.source()
        #expect(try await scene.stored() == ["n-0"])
        #expect(source.skippedItems == 1 && source.cursor == "c1")
        #expect(source.lastError?.contains("item 1 (n-1) was skipped") == true)
        #expect(source.lastError?.contains("webPushHosts") == true)
    }

    @Test func `no network has more of its sources asked at a time than its share`() async throws {
        let scene = try await Scene()
        for id in ["a", "b", "c"] as [SourceID] { try await scene.add(id) }
        try await scene.add("z", of: Self.other)
        let claimed = await scene.poller.claim()
        #expect(claimed.map(\.networkID).sorted() == [Self.network, Self.network, Self.other])
        #expect(await scene.poller.claim().isEmpty)
    }

    @Test func `a request is signed over an empty body, and goes where a query is already`() async throws {
        let scene = try await Scene()
        try await scene.add("crm", url: "https://crm.example/p?x=1")
        scene.caller.answers([.success(.init(status: 200, body: Array(Self.page([], cursor: "é&", more: true).utf8)))])
        try await scene.pollAll()
        let calls = scene.caller.calls
        #expect(calls.allSatisfy { $0.method == .get && $0.body.isEmpty && $0.secrets.count == 1 })
        #expect(calls.map(\.url) == ["https://crm.example/p?x=1", "https://crm.example/p?x=1&cursor=%C3%A9%26"])
        #expect(Set(calls.map(\.messageID)).count == 2)
    }
}

/// A rate of which so much is left, and after that a wait.
private final class ScriptedRates: EventRates {
    private let state: Mutex<Int>
    private let pause: Duration

    init(left: Int, wait: Duration) {
        state = Mutex(left)
        pause = wait
    }

    var left: Int { state.withLock(\.self) }

    func refill(to left: Int) { state.withLock { $0 = left } }

    func wait(of network: Network) -> Duration? { left > 0 ? nil : pause }

    func wait(counting events: Int, of network: Network) -> Duration? {
        state.withLock { left in
            guard left >= events else { return pause }
            left -= events
            return nil
        }
    }

    func giveBack(events count: Int, of network: Network) { state.withLock { $0 += count } }
}

/// Has no room for anything.
private struct NoEntrance: Entrance {
    func reserve(_ items: [PendingEvent]) -> [Bool] { items.map { _ in false } }
    func cancel(_ items: [PendingEvent]) {}
    func submit(_ items: [PendingEvent]) async {}
}

/// Answers as it was told beforehand, then with nothing new.
private final class ScriptedSource: EndpointCaller {
    private let state = Mutex(
        (answers: [Swift.Result<EndpointAnswer.Reply, EndpointAnswer.Failure>](), calls: [EndpointCall]())
    )

    var calls: [EndpointCall] { state.withLock { $0.calls } }
    var urls: [String] { calls.map(\.url) }

    func answers(_ answers: [Swift.Result<EndpointAnswer.Reply, EndpointAnswer.Failure>]) {
        state.withLock { $0.answers = answers }
    }

    func call(_ call: EndpointCall) async -> EndpointAnswer {
        state.withLock { state in
            state.calls.append(call)
            let answer = state.answers.isEmpty ? .success(.init(status: 204, body: [])) : state.answers.removeFirst()
            return EndpointAnswer(answer, time: .zero)
        }
    }
}

/// Sources whose database is away when it is told to be.
private final class WatchedSources: SourceQueue {
    private let store: any SourceQueue
    private let state = Mutex((isAway: false, wait: Duration?.none))

    init(store: any SourceQueue) { self.store = store }

    /// For how long a source was let go last.
    var lastWait: Duration? { state.withLock { $0.wait } }

    func failsNext() { state.withLock { $0.isAway = true } }

    func claimSources(limit: Int, share: Int, busy: [NetworkID: Int]) async throws -> [ClaimedSource] {
        try await store.claimSources(limit: limit, share: share, busy: busy)
    }

    func nextDue() async throws -> Duration? { try await store.nextDue() }

    func accept(_ page: SourcePage, from source: ClaimedSource) async throws -> [Acceptance]? {
        let isAway = state.withLock { state in
            defer { state.isAway = false }
            return state.isAway
        }
        if isAway { throw StoreAway() }
        return try await store.accept(page, from: source)
    }

    func release(_ source: ClaimedSource, after wait: Duration, _ outcome: PollOutcome) async throws {
        state.withLock { $0.wait = wait }
        try await store.release(source, after: wait, outcome)
    }
}
