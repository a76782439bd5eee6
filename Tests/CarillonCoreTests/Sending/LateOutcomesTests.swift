import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

/// What is sent while nobody can write down what came of what was sent before.
@Suite(.timeLimit(.minutes(1))) struct LateOutcomesTests {
    /// Outcomes that are late until a test says that they are not.
    private struct LateOutcomes: OutcomeSink {
        let outcomes: OutcomeIntake
        let lateness: Lateness

        var isBehind: Bool { lateness.isAsked() || outcomes.isBehind }
        var groups: [DeliveryGroup] { outcomes.groups }
        var writeTime: Duration { outcomes.writeTime }
        func take(_ page: SendPage) { outcomes.take(page) }
        func submit(_ settlement: Settlement) { outcomes.submit(settlement) }
        func hasAbandoned(_ group: DeliveryGroup) -> Bool { outcomes.hasAbandoned(group) }
        func forget(_ group: DeliveryGroup) { outcomes.forget(group) }
    }

    private final class Lateness: Sendable {
        private let state = Mutex((isOver: false, questions: 0))

        /// How many times somebody wanted to know.
        var questions: Int { state.withLock(\.questions) }

        func isAsked() -> Bool {
            state.withLock { state in
                state.questions += 1
                return !state.isOver
            }
        }

        func end() { state.withLock { $0.isOver = true } }
    }

    @Test func `nothing is sent while outcomes wait too long to be written, and all of it afterwards`() async throws {
        let lateness = Lateness()
        try await PipelineScene.run(wrappingOutcomes: { LateOutcomes(outcomes: $0, lateness: lateness) }) { scene in
            let id = try await scene.post()
            _ = try await eventually {
                try await scene.store.history.event(id, in: scene.network)?.deliveries[.pending] == 3 ? true : nil
            }
            let questions = lateness.questions
            _ = try await eventually { lateness.questions > questions + 10 ? true : nil }
            #expect(scene.provider.devices.isEmpty)
            lateness.end()
            #expect(try await scene.finished(id).deliveries[.delivered] == 3)
        }
    }

    @Test func `a shutdown waits for no outcomes that are late`() async throws {
        let lateness = Lateness()
        try await PipelineScene.run(wrappingOutcomes: { LateOutcomes(outcomes: $0, lateness: lateness) }) { scene in
            try await scene.post()
            _ = try await eventually { lateness.questions > 0 ? true : nil }
        }
    }
}
