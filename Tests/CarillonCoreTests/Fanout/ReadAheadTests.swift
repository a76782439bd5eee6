import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonCore

@Suite(.stores, .timeLimit(.minutes(1))) struct ReadAheadTests {
    /// Three pages.
    private static let members = 2 * SmallPages.size + 1

    @Test(arguments: [0, 1])
    func `the next page of a large audience is read while one is written, and again if it could not be`(
        failures: Int
    ) async throws {
        let recipients = SmallPages(StoreScene.here.recipients)
        let outbox = WaitingOutbox(StoreScene.here.queue, failures: failures) {
            try await eventually { recipients.count > 2 }
        }
        let scene = try PipelineScene(store: .here, recipients: recipients, outbox: outbox)
        try await scene.populate(members: Self.members)
        try await scene.whileRunning {
            let status = try await scene.finished(try await scene.post())
            #expect(status.recipients.notified == Self.members)
            #expect(status.deliveries[.delivered] == Self.members)
            #expect(recipients.count == 3 + 2 * failures)
        }
    }

    @Test func `large audiences whose turn comes together take turns`() async throws {
        let outbox = EvenOutbox(StoreScene.here.queue)
        let recipients = SmallPages(StoreScene.here.recipients)
        let scene = try PipelineScene(store: .here, recipients: recipients, outbox: outbox)
        let other = scene.store.otherNetwork
        try await scene.populate(members: 9 * SmallPages.size)
        try await scene.populate(other, members: 9 * SmallPages.size)
        // Posted before anything runs, so that they are taken together.
        let (event, another) = (try await scene.post(), try await scene.post(in: other))
        outbox.expect([event, another])
        try await scene.whileRunning {
            _ = try await scene.finished(event)
            _ = try await scene.finished(another, in: other)
        }
    }
}

/// Answers small pages, and counts them.
private final class SmallPages: RecipientSource {
    static let size = 10

    private let store: any RecipientSource
    private let answered = Mutex(0)

    init(_ store: any RecipientSource) { self.store = store }

    var count: Int { answered.withLock(\.self) }

    func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        guard let query = queries.first else { return [] }
        answered.withLock { $0 += 1 }
        var page = try await store.page(for: query)
        page.next = page.recipients.count > Self.size ? .user(page.recipients[Self.size - 1].userID) : nil
        page.recipients = Array(page.recipients.prefix(Self.size))
        return [page]
    }
}

/// Lets something happen before it writes a page that is neither the first nor the last, and then fails a few times.
private final class WaitingOutbox: OutboxWriter {
    private let store: any OutboxWriter
    private let failures: Mutex<Int>
    private let happens: @Sendable () async throws -> Void

    init(_ store: any OutboxWriter, failures: Int, until happens: @Sendable @escaping () async throws -> Void) {
        self.store = store
        self.failures = Mutex(failures)
        self.happens = happens
    }

    func enqueue(_ expansions: [Expansion]) async throws -> [Bool] {
        if expansions.contains(where: { $0.after != nil && $0.next != nil }) {
            try await happens()
            let fails = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            if fails { throw StoreAway() }
        }
        return try await store.enqueue(expansions)
    }
}

/// Writes no page of an event that is far ahead of another.
private final class EvenOutbox: OutboxWriter {
    private static let mostAhead = 3

    private let store: any OutboxWriter
    private let pages = Mutex<[EventID: Int]>([:])

    init(_ store: any OutboxWriter) { self.store = store }

    func expect(_ events: [EventID]) { pages.withLock { pages in for event in events { pages[event] = 0 } } }

    func enqueue(_ expansions: [Expansion]) async throws -> [Bool] {
        let events = expansions.map(\.event.id)
        _ = try await eventually {
            pages.withLock { pages in
                let slowest = pages.values.min() ?? 0
                return events.allSatisfy { pages[$0, default: 0] < slowest + Self.mostAhead } ? true : nil
            }
        }
        let written = try await store.enqueue(expansions)
        pages.withLock { pages in for event in events { pages[event, default: 0] += 1 } }
        return written
    }
}

@Suite(.stores, .timeLimit(.minutes(2))) struct ExpansionFailureTests {
    @Test func `an event that cannot be expanded says why, and is expanded when it can be`() async throws {
        let recipients = FailingRecipients(StoreScene.here.recipients)
        let scene = try PipelineScene(store: .here, recipients: recipients)
        try await scene.populate(members: 2)
        try await scene.whileRunning {
            let id = try await scene.post()
            let late = try await eventually {
                let status = try await scene.store.history.event(id, in: scene.network)
                return status?.failure == nil ? nil : status
            }
            #expect(late.failure == "StoreAway()")
            #expect(late.state == .accepted)
            recipients.recover()
            let status = try await scene.finished(id)
            #expect(status.failure == nil)
            #expect(status.recipients.notified == 2)
        }
    }

    @Test(arguments: [StoreAway(), StoreBroken()] as [any TransientError])
    func `an event that cannot be expanded for now, or before a repair, is put off, however often, and not set aside`(
        error: any TransientError
    ) async throws {
        let recipients = FailingRecipients(StoreScene.here.recipients, because: error)
        let scene = try PipelineScene(store: .here, recipients: recipients, patience: .zero)
        try await scene.populate(members: 2)
        let id = try await scene.post()
        // Whoever has it in memory does nothing with it: its lease ends once.
        for _ in 0..<10 {
            try await scene.store.passTime()
            let events = try await scene.store.inbox.claimEvents(limit: 1, excluding: [])
            try #require(events.map(\.id) == [id])
            await scene.fanout.expand(events)
        }
        let late = try #require(try await scene.store.history.event(id, in: scene.network))
        #expect(late.state == .accepted)
        #expect(late.failure == "\(error)")
        recipients.recover()
        try await scene.store.passTime()
        try await scene.whileRunning {
            let status = try await scene.finished(id)
            #expect(status.failure == nil)
            #expect(status.recipients.notified == 2)
        }
    }

    @Test func `those who were taken with a network that has trouble do not wait for it for as long as it is tried`()
        async throws
    {
        let recipients = FailingRecipients(StoreScene.here.recipients, of: StoreScene.here.network)
        // Longer than the test waits.
        let scene = try PipelineScene(store: .here, recipients: recipients, patience: .seconds(600))
        let other = scene.store.otherNetwork
        try await scene.populate(members: 1)
        try await scene.populate(other, members: 1)
        // Posted before anything runs, so that they are taken together.
        let (late, event) = (try await scene.post(), try await scene.post(in: other))
        try await scene.whileRunning {
            _ = try await scene.finished(event, in: other)
            let isReleased: SQL = "SELECT count(*) FROM inbox WHERE event_id = \(late.uuid) AND NOT leased"
            try await eventually("the end of their turns") {
                try await scene.store.pool.first(isReleased, as: Int.self) == 1
            }
            recipients.recover()
            #expect(try await scene.finished(late).recipients.notified == 1)
        }
    }
}

/// Something of the database has to be repaired.
private struct StoreBroken: TransientError {
    var isTransient: Bool { false }
    var awaitsRepair: Bool { true }
}

/// Recipients that cannot be found, all of them or a network's.
final class FailingRecipients: RecipientSource {
    private let store: any RecipientSource
    private let network: NetworkID?
    private let error: any Error
    private let fails = Mutex(true)

    init(_ store: any RecipientSource, of network: NetworkID? = nil, because error: any Error = StoreAway()) {
        self.store = store
        self.network = network
        self.error = error
    }

    func recover() { fails.withLock { $0 = false } }

    func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        let isMeant = queries.contains { network == nil || $0.networkID == network }
        if isMeant, fails.withLock(\.self) { throw error }
        return try await store.recipients(for: queries)
    }
}
