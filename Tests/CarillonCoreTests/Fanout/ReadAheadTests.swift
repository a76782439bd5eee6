import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct ReadAheadTests {
    /// Three pages.
    private static let members = 2 * SmallPages.size + 1

    @Test(arguments: [0, 1])
    func `the next page of a large audience is read while one is written, and again if it could not be`(
        failures: Int
    ) async throws {
        let ids = UUIDv7Generator()
        let store = MemoryStore(ids: ids)
        let recipients = SmallPages(store)
        let outbox = WaitingOutbox(store, failures: failures) {
            _ = try await eventually { recipients.count > 2 ? true : nil }
        }
        let scene = try PipelineScene(store: store, ids: ids, recipients: recipients, outbox: outbox)
        try await scene.populate(members: Self.members)
        try await scene.whileRunning {
            let status = try await scene.finished(try await scene.post())
            #expect(status.recipients.notified == Self.members)
            #expect(status.deliveries[.delivered] == Self.members)
            #expect(recipients.count == 3 + 2 * failures)
        }
    }
}

/// Answers small pages, and counts them.
private final class SmallPages: RecipientSource {
    static let size = 10

    private let store: MemoryStore
    private let answered = Mutex(0)

    init(_ store: MemoryStore) {
        self.store = store
    }

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
    private let store: MemoryStore
    private let failures: Mutex<Int>
    private let happens: @Sendable () async throws -> Void

    init(_ store: MemoryStore, failures: Int, until happens: @Sendable @escaping () async throws -> Void) {
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
