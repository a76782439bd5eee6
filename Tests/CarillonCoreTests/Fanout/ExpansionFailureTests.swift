import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

@Suite(.stores, .timeLimit(.minutes(1))) struct ExpansionFailureTests {
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
}

/// Recipients that cannot be found for now.
final class FailingRecipients: RecipientSource {
    private let store: any RecipientSource
    private let fails = Mutex(true)

    init(_ store: any RecipientSource) {
        self.store = store
    }

    func recover() { fails.withLock { $0 = false } }

    func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        if fails.withLock(\.self) { throw StoreAway() }
        return try await store.recipients(for: queries)
    }
}
