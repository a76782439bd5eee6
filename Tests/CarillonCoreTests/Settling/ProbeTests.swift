import CarillonTesting
import Metrics
import Testing

@testable import CarillonCore

/// What a try whether a paused lane works again means for it.
@Suite struct ProbeTests {
    private func isPaused(_ provider: ProviderName, after outcome: Outcome) throws -> Bool {
        let stores = try StoreScene.unconnected()
        let logger = TestDatabase.logger
        let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)
        let queue = SendingQueue(claims: ScriptedClaims(), logger: logger)
        let lanes = LaneHealth(store: stores.queue, devices: stores.devices, queue: queue, logger: logger)
        let settler = Settler(log: stores.queue, lanes: lanes, metrics: metrics, logger: logger)
        let group = DeliveryGroup.test([.test("d")], provider: provider)
        _ = lanes.pause(group.lane, for: .zero, reason: "down", at: testNow)
        OutcomeIntake(lanes: lanes, settler: settler, metrics: metrics).take(
            SendPage(
                group: group,
                begin: .now,
                outcomes: [(group.targets[0], outcome)],
                unreported: [],
                isOver: true,
                isProbe: true,
                time: testNow
            )
        )
        return lanes.condition(of: group.lane)?.pause != nil
    }

    @Test(arguments: [
        (ProviderName.webhook, Outcome.retry(after: nil, reason: "http 500"), false),
        (.webhook, .timedOut(reason: "timeout"), true), (.webhook, .delivered(id: nil), false),
        (.fcm, .retry(after: nil, reason: "http 500"), true), (.fcm, .delivered(id: nil), false),
        (.fcm, .deferLane(after: .seconds(1), reason: "credential not readable", isOurs: true), true),
    ])
    func `a server that answers a single device with an error works, a push service may not`(
        provider: ProviderName,
        outcome: Outcome,
        isPaused: Bool
    ) throws {
        #expect(try self.isPaused(provider, after: outcome) == isPaused)
    }
}
