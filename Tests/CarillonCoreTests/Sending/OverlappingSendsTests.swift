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

    private struct UnchangedReader: OutboxReader {
        func refresh(_ groups: [DeliveryGroup]) async throws -> [RefreshedGroup] { [] }

        func changes(since points: [(network: NetworkID, point: ReadPoint)]) async throws -> [Changes] {
            points.map { _ in .none }
        }
    }

    private func group(of size: Int) -> DeliveryGroup {
        let targets = (0..<size).map { Target.test("d-\($0)") }
        return DeliveryGroup.test(targets, provider: .fcm, receivedAt: WallClock.system.now())
    }

    @Test func `each gives back the places that it took itself`() async throws {
        let logger = TestDatabase.logger
        let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)
        let store = StoreScene.here.queue
        let queue = SendingQueue(claims: store, logger: logger)
        let lanes = LaneKeeper(book: store, devices: StoreScene.here.devices, queue: queue, logger: logger)
        let settler = Settler(log: store, lanes: lanes, metrics: metrics, logger: logger)
        let provider = HoldingProvider()
        let sender = Sender(
            queue: queue,
            reader: UnchangedReader(),
            claims: store,
            outcomes: OutcomeIntake(lanes: lanes, settler: settler, metrics: metrics),
            lanes: lanes,
            providers: [provider],
            metrics: metrics,
            watch: QueueWatch(factory: NOOPMetricsHandler.instance, logger: logger),
            logger: logger
        )
        func submit(_ group: DeliveryGroup) async {
            let point = ReadPoint("1:1:", moment: WallClock.system.now())
            await queue.submitClaimed([HeldGroup(group: group, readPoint: point, readAt: .now)])
        }
        let sending = Task { try await sender.run() }
        defer { sending.cancel() }
        let enough = FairQueueLimits.sending.placesPerLane / DeliveryGroup.mostPlaces + 2
        for _ in 0..<enough {
            let whole = group(of: 500)
            var rest = whole
            rest.targets = [whole.targets[0]]
            rest.leaseToken += 1
            provider.hold()
            await submit(whole)
            _ = try await eventually { provider.sizes == [500] ? true : nil }
            await submit(rest)
            _ = try await eventually { provider.sizes == [500, 1] ? true : nil }
            provider.letGo()
            _ = try await eventually { queue.count == 0 ? true : nil }
        }
        provider.hold()
        await submit(group(of: 1))
        _ = try await eventually { provider.sizes == [1] ? true : nil }
    }
}
