import CarillonTesting
import Metrics
import Testing

@testable import CarillonCore

/// What a try whether a paused lane works again means for it.
@Suite struct ProbeTests {
    /// The lane's condition after a try whose time would be over in 20 s.
    private func condition(of provider: ProviderName, after outcome: Outcome) throws -> LaneCondition? {
        let stores = try StoreScene.unconnected()
        let logger = TestDatabase.logger
        let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)
        let queue = SendingQueue(claims: ScriptedClaims(), logger: logger)
        let lanes = LaneHealth(store: stores.queue, devices: stores.devices, queue: queue, logger: logger)
        let settler = Settler(log: stores.queue, lanes: lanes, metrics: metrics, logger: logger)
        let group = DeliveryGroup.test([.test("d")], provider: provider)
        _ = lanes.pause(group.lane, for: .seconds(20), reason: "down", at: testNow)
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
        return lanes.condition(of: group.lane)
    }

    @Test(arguments: [
        (ProviderName.webhook, Outcome.retry(after: nil, reason: "http 500"), false),
        (.webhook, .timedOut(reason: "timeout"), true), (.webhook, .delivered(id: nil), false),
        (.webhook, .retry(after: nil, reason: "connection refused", wasSent: false), true),
        (.fcm, .retry(after: nil, reason: "http 500"), true), (.fcm, .delivered(id: nil), false),
    ])
    func `a server that answers a single device with an error works, a push service may not`(
        provider: ProviderName,
        outcome: Outcome,
        isPaused: Bool
    ) throws {
        #expect((try condition(of: provider, after: outcome)?.pause != nil) == isPaused)
    }

    @Test func `a fault of ours is no sign, and the lane is tried again soon`() throws {
        let outcome = Outcome.deferLane(after: .seconds(5), reason: "credential not readable", isOurs: true)
        let ours = try #require(try condition(of: .fcm, after: outcome))
        #expect(ours.remainingPause(at: testNow) == .seconds(5))
        #expect(ours.nextPause == LaneCondition.firstPause && ours.pause?.reason == "down")
        let theirs = try #require(try condition(of: .fcm, after: .deferLane(after: .seconds(5), reason: "429")))
        #expect(theirs.remainingPause(at: testNow) == .seconds(20))
    }
}
