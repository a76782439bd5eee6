@testable import CarillonCore
import CarillonTesting
import Testing

/// What store promises of what endpoints said of events before anybody was notified of them.
@Suite(.stores) struct InterceptionTests {
    let scene = StoreScene.here

    /// One that changes something in every way.
    private let verdict = Verdict(
        InterceptionReport(
            endpointID: "e-1",
            outcome: .answered,
            action: .edit,
            reason: "be \"kind\"\nplease",
            milliseconds: 12
        ),
        changes: NotificationChanges(
            texts: DirectTexts(
                .init(title: "secret\nwords"),
                byLocale: LocaleTag("th").map { [$0: .init(body: "ข")] } ?? [:]
            ),
            data: ["flag": ["1.50", .null]],
            excluded: ["b", "é"]
        )
    )

    /// Claims an event once more, as after a crash.
    private func claimAgain(_ id: EventID, _ scene: StoreScene) async throws -> PendingEvent {
        try await scene.passTime()
        return try #require(try await scene.inbox.claimEvents(limit: 100).first { $0.id == id })
    }

    /// Writes the first of several pages, with the verdict.
    private func firstPage(_ scene: StoreScene) async throws -> PendingEvent {
        var pending = try await scene.pending(.message("c", from: Person(id: "z")))
        #expect(pending.verdict == nil && pending.tally.intercepted == 0)
        pending.verdict = verdict
        pending.tally.resolved = 3
        pending.tally.intercepted = 2
        pending.tally.notified = 1
        let group = scene.group(pending, to: [try await scene.target("d", of: "a")])
        let expansion = Expansion(event: pending, groups: [group], next: .user("a"))
        #expect(try await scene.queue.enqueue([expansion]) == [true])
        return pending
    }

    @Test func `a verdict is stored with the first page, for whoever goes on with the event`() async throws {
        let first = try await firstPage(scene)
        let status = try #require(try await scene.history.event(first.id, in: scene.network))
        #expect(status.state == .delivering && status.interception == verdict.report)
        #expect(status.recipients.intercepted == 2)
        var claimed = try await claimAgain(first.id, scene)
        #expect(claimed.verdict == verdict && claimed.tally.intercepted == 2 && claimed.cursor == .user("a"))
        claimed.tally.resolved += 1
        claimed.tally.intercepted += 1
        let next = Expansion(event: claimed, after: .user("a"), groups: [], next: .user("b"))
        #expect(try await scene.queue.enqueue([next]) == [true])
        let again = try await claimAgain(first.id, scene)
        #expect(again.verdict == verdict && again.tally.intercepted == 3)
    }

    @Test func `a verdict is stored with the page that was asked about, and no later one changes it`() async throws {
        let pending = try await scene.pending(.message("c", from: Person(id: "z")))
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: [], next: .user("a"))]) == [true])
        // Nobody of the first page was to be notified.
        var second = try await claimAgain(pending.id, scene)
        second.verdict = verdict
        second.tally.notified = 1
        let group = scene.group(second, to: [try await scene.target("d", of: "b")])
        let page = Expansion(event: second, after: .user("a"), groups: [group], next: .user("b"))
        #expect(try await scene.queue.enqueue([page]) == [true])
        var third = try await claimAgain(pending.id, scene)
        #expect(third.verdict == verdict && third.cursor == .user("b"))
        third.verdict = Verdict(InterceptionReport(endpointID: "e-2", outcome: .answered, action: .drop))
        let next = Expansion(event: third, after: .user("b"), groups: [], next: .user("c"))
        #expect(try await scene.queue.enqueue([next]) == [true])
        #expect(try await claimAgain(pending.id, scene).verdict == verdict)
    }

    @Test func `without a page that was written there is no verdict`() async throws {
        var pending = try await scene.pending(.message("c", from: Person(id: "z")))
        let claimed = try await claimAgain(pending.id, scene)
        pending.verdict = verdict
        let late = Expansion(event: pending, groups: [], next: .user("a"))
        #expect(try await scene.queue.enqueue([late]) == [false])
        #expect(claimed.verdict == nil)
        #expect(try await claimAgain(pending.id, scene).verdict == nil)
        #expect(try await scene.history.event(pending.id, in: scene.network)?.interception == nil)
    }

    @Test func `a done event shows what came of asking, and nobody's words`() async throws {
        var pending = try await scene.pending(.message("c", from: Person(id: "z")))
        pending.verdict = verdict
        pending.tally.resolved = 2
        pending.tally.intercepted = 2
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: [], next: nil)]) == [true])
        let status = try #require(try await scene.history.event(pending.id, in: scene.network))
        #expect(status.state == .done && status.interception == verdict.report)
        #expect(status.recipients.intercepted == 2 && status.recipients.resolved == 2)
        let other = try await scene.pending(.message("c", from: Person(id: "z"), id: "other"))
        #expect(try await scene.queue.enqueue([Expansion(event: other, groups: [], next: nil)]) == [true])
        let unasked = try #require(try await scene.history.event(other.id, in: scene.network))
        #expect(unasked.interception == nil && unasked.recipients.intercepted == 0)
    }

    @Test func `a withdrawn event keeps what came of asking`() async throws {
        let first = try await firstPage(scene)
        #expect(try await scene.history.withdraw(first.id, in: scene.network))
        let rest = try #require(try await scene.inbox.claimEvents(limit: 9).first)
        #expect(rest.isWithdrawn && rest.verdict == verdict)
        #expect(
            try await scene.queue.enqueue([Expansion(event: rest, after: rest.cursor, groups: [], next: nil)]) == [true]
        )
        let status = try #require(try await scene.history.event(first.id, in: scene.network))
        #expect(status.interception == verdict.report && status.recipients.intercepted == 2)
    }

    @Test func `an event that is set aside keeps what came of asking`() async throws {
        let first = try await firstPage(scene)
        for _ in 0..<8 {
            try await scene.passTime()
            _ = try await scene.inbox.claimEvents(limit: 100)
        }
        let status = try #require(try await scene.history.event(first.id, in: scene.network))
        #expect(status.failure == "crash loop")
        #expect(status.interception == verdict.report && status.recipients.intercepted == 2)
    }

    @Test func `an endpoint that is asked shows how it fares`() async throws {
        try await scene.endpoints.addEndpoint(.sample("e-1", .intercepting), to: scene.network)
        let version = try await scene.endpointLog.endpointList(unless: nil)?.version
        let key = EndpointOutcome.Key(network: scene.network, endpoint: "e-1")
        let removed = EndpointOutcome.Key(network: scene.network, endpoint: "e-2")
        let moment = Timestamp.seconds(1_000)
        for (note, success, error) in [
            (EndpointOutcome(error: "timeout"), nil, "timeout"), (EndpointOutcome(succeededAt: moment), moment, nil),
            (EndpointOutcome(error: "http 500"), moment, "http 500"),
        ] as [(EndpointOutcome, Timestamp?, String?)] {
            try await scene.endpointLog.note([key: note, removed: note])
            let shown = try #require(try await scene.endpoints.endpoints(of: scene.network).first)
            #expect(shown.lastSuccessAt == success && shown.lastError == error)
        }
        #expect(
            try await scene.endpointLog.endpointList(unless: version) == nil,
            "nothing that is remembered has changed"
        )
    }

    @Test func `an event's body is read as long as it waits`() async throws {
        var incoming = scene.incoming(.message("c", from: Person(id: "z"), id: "odd"))
        incoming.body = Array(#" { "extra": [1.50, "é"], "#.utf8) + incoming.body.dropFirst()
        _ = try await scene.inbox.accept([incoming])
        let pending = try #require(try await scene.inbox.claimEvents(limit: 9).first)
        try await scene.endpoints.addEndpoint(.sample("e-1", .intercepting), to: scene.network)
        func material(_ endpoint: EndpointID = "e-1", in network: NetworkID) async throws -> QuestionMaterial {
            let key = RelayKey(networkID: network, endpointID: endpoint, eventID: pending.id)
            return try await scene.questions.questionMaterial(key)
        }
        let here = try await material(in: scene.network)
        #expect(here.body == incoming.body)
        #expect(here.secrets == (try await scene.endpoints.endpointSecrets(of: "e-1", in: scene.network)))
        #expect(here.secrets.count == 1)
        #expect(try await material(in: scene.otherNetwork).secrets.isEmpty)
        #expect(try await material("e-2", in: scene.network).secrets.isEmpty)
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: [], next: nil)]) == [true])
        let later = try await material(in: scene.network)
        #expect(later.body == nil && later.secrets.count == 1)
    }
}
