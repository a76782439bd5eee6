import CarillonTesting
import Metrics
import Synchronization
import Testing

@testable import CarillonCore

/// A group that is claimed again while it is still with its provider, as after a lost lease.
@Suite(.stores, .timeLimit(.minutes(1))) struct OverlappingSendsTests {
    /// Holds large groups until it is told to let them go.
    private final class HoldingProvider: Provider {
        let name = ProviderName.fcm
        let deadline = Duration.seconds(15)
        private let state = Mutex((sizes: [Int](), isOpen: false))

        var sizes: [Int] { state.withLock(\.sizes) }

        func hold() { state.withLock { $0 = ([], false) } }

        func letGo() { state.withLock { $0.isOpen = true } }

        func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
            state.withLock { $0.sizes.append(group.targets.count) }
            while group.targets.count > 1, !state.withLock(\.isOpen), !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(1))
            }
            for target in group.targets { report(target, .delivered(id: nil)) }
        }
    }

    /// Begins with one device after another, for as long as it may.
    private final class SteadyProvider: Provider {
        let name = ProviderName.fcm
        /// A lease leaves two seconds to begin, and ten more to go on.
        let deadline = Duration.seconds(48)
        private let state = Mutex((begun: 0, isOver: false))

        var begun: Int { state.withLock(\.begun) }
        var isOver: Bool { state.withLock(\.isOver) }

        func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
            for target in group.targets where !Task.isCancelled {
                state.withLock { $0.begun += 1 }
                report(target, .delivered(id: nil))
                try? await Task.sleep(for: .milliseconds(50))
            }
            state.withLock { $0.isOver = true }
        }
    }

    private func group(of size: Int) -> DeliveryGroup {
        let targets = (0..<size).map { Target.test("d-\($0)") }
        return DeliveryGroup.test(targets, provider: .fcm, receivedAt: WallClock.system.now())
    }

    /// Has a provider sent what a test submits.
    private func withSender(
        of provider: some Provider,
        _ test: (SendingQueue, _ submit: (DeliveryGroup) async -> Void) async throws -> Void
    ) async throws {
        let logger = TestDatabase.logger
        let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)
        let store = StoreScene.here.queue
        let queue = SendingQueue(claims: store, logger: logger)
        let lanes = LaneHealth(store: store, devices: StoreScene.here.devices, queue: queue, logger: logger)
        let settler = Settler(log: store, lanes: lanes, metrics: metrics, logger: logger)
        let sender = Sender(
            queue: queue,
            reader: UnchangedReader(),
            claims: store,
            outcomes: OutcomeIntake(lanes: lanes, settler: settler, metrics: metrics),
            settlements: settler,
            lanes: lanes,
            providers: [provider],
            metrics: metrics,
            watch: QueueWatch(factory: NOOPMetricsHandler.instance, logger: logger),
            logger: logger
        )
        let sending = Task { try await sender.run() }
        defer { sending.cancel() }
        try await test(queue) { group in
            let point = ReadPoint("1:1:", moment: WallClock.system.now())
            await queue.submitClaimed([LeasedGroup(group: group, readPoint: point, readAt: .now)])
        }
    }

    @Test func `nothing more is begun whose lease, not renewed, could end before it is written down`() async throws {
        let provider = SteadyProvider()
        try await withSender(of: provider) { queue, submit in
            let whole = group(of: 500)
            // On a machine that is slow to begin, the lease is too old before.
            while provider.begun == 0 {
                await submit(whole)
                try await eventually { provider.begun > 0 || queue.count == 0 }
            }
            try await eventually { provider.isOver }
            #expect(provider.begun < 500)
            try await eventually { queue.count == 0 }
        }
    }

    @Test func `each gives back the places that it took itself`() async throws {
        let provider = HoldingProvider()
        try await withSender(of: provider) { queue, submit in
            let enough = FairQueueLimits.sending.slotsPerLane / DeliveryGroup.mostSlots + 2
            for _ in 0..<enough {
                let whole = group(of: 500)
                var rest = whole
                rest.targets = [whole.targets[0]]
                rest.leaseToken += 1
                provider.hold()
                await submit(whole)
                try await eventually { provider.sizes == [500] }
                await submit(rest)
                try await eventually { provider.sizes == [500, 1] }
                provider.letGo()
                try await eventually { queue.count == 0 }
            }
            provider.hold()
            await submit(group(of: 1))
            try await eventually { provider.sizes == [1] }
        }
    }
}

/// What is sent while nobody can write down what came of what was sent before.
@Suite(.timeLimit(.minutes(1))) struct LateOutcomesTests {
    /// Outcomes that are late until a test says that they are not.
    private struct LateOutcomes: SettlementSink {
        let settler: Settler
        let lateness: Lateness

        var isBehind: Bool { lateness.isAsked() || settler.isBehind }
        var groups: [DeliveryGroup] { settler.groups }
        var writeTime: Duration { settler.writeTime }
        func submit(_ settlement: Settlement) { settler.submit(settlement) }
        func hasAbandoned(_ group: DeliveryGroup) -> Bool { settler.hasAbandoned(group) }
        func forget(_ group: DeliveryGroup) { settler.forget(group) }
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
        try await PipelineScene.run(wrappingSettler: { LateOutcomes(settler: $0, lateness: lateness) }) { scene in
            let id = try await scene.post()
            _ = try await eventually {
                try await scene.store.history.event(id, in: scene.network)?.deliveries[.pending] == 3 ? true : nil
            }
            let questions = lateness.questions
            try await eventually { lateness.questions > questions + 10 }
            #expect(scene.provider.devices.isEmpty)
            lateness.end()
            #expect(try await scene.finished(id).deliveries[.delivered] == 3)
        }
    }

    @Test func `a shutdown waits for no outcomes that are late`() async throws {
        let lateness = Lateness()
        try await PipelineScene.run(wrappingSettler: { LateOutcomes(settler: $0, lateness: lateness) }) { scene in
            try await scene.post()
            try await eventually { lateness.questions > 0 }
        }
    }
}
