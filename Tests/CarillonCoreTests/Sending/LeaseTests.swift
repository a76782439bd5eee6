import CarillonTesting
import Foundation
import Metrics
import Testing

@testable import CarillonCore

/// How long this replica takes a group for its own.
@Suite(.timeLimit(.minutes(1))) struct LeaseTests {
    private let group = DeliveryGroup.test([.test("d")], receivedAt: WallClock.system.now())
    private let point = ReadPoint("1:1:", moment: WallClock.system.now())

    /// A queue, with who fills it and who sends what is in it.
    private func services(of claims: ScriptedClaims) throws -> (queue: SendingQueue, claimer: Claimer, sender: Sender) {
        let stores = try StoreScene.unconnected()
        let logger = TestDatabase.logger
        let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)
        let watch = QueueWatch(factory: NOOPMetricsHandler.instance, logger: logger)
        let queue = SendingQueue(claims: claims, logger: logger)
        let lanes = LaneHealth(store: stores.queue, devices: stores.devices, queue: queue, logger: logger)
        let settler = Settler(log: stores.queue, lanes: lanes, metrics: metrics, logger: logger)
        let claimer = Claimer(queue: queue, claims: claims, settlements: settler, metrics: metrics, watch: watch)
        let sender = Sender(
            queue: queue,
            reader: UnchangedReader(),
            claims: claims,
            outcomes: OutcomeIntake(lanes: lanes, settler: settler, metrics: metrics),
            settlements: settler,
            lanes: lanes,
            providers: [ScriptedProvider()],
            metrics: metrics,
            watch: watch,
            logger: logger
        )
        return (queue, claimer, sender)
    }

    @Test func `a lease is dated from before the claim, however long that takes`() async throws {
        let refreshed = RefreshedGroup(group: group, gone: [], settings: [:], networkToggles: .init(), readPoint: point)
        let claims = ScriptedClaims([refreshed], isOpen: false)
        let (queue, claimer, _) = try services(of: claims)
        let expiring = Task { await claimer.expireGroups() }
        try await eventually { claims.claims == 1 }
        let meanwhile = ContinuousClock.now
        claims.open()
        await expiring.value
        let held = try #require(queue.waiting.first)
        #expect(held.leasedAt <= meanwhile)
        #expect(held.readAt >= meanwhile, "that is when it was read at the latest")
    }

    @Test func `what waited for nearly as long as its lease is given back, which is no crash`() async throws {
        let claims = ScriptedClaims()
        let (queue, _, sender) = try services(of: claims)
        let sending = Task { try await sender.run() }
        defer { sending.cancel() }
        var held = LeasedGroup(group: group, readPoint: point, readAt: .now)
        held.leasedAt = .now - leaseDuration
        await queue.submitClaimed([held])
        try await eventually { claims.released == [group.id] }
        try await eventually { queue.count == 0 }
    }

    @Test func `who is cancelled gives back all the same`() async throws {
        let claims = ScriptedClaims()
        let queue = SendingQueue(claims: claims, logger: TestDatabase.logger)
        let giving = Task {
            while !Task.isCancelled { await Task.yield() }
            await queue.giveBack([group], after: .zero)
        }
        giving.cancel()
        await giving.value
        #expect(claims.released == [group.id])
    }

    @Test func `a group whose row was passed over by a renewal is neither lost nor renewed`() async throws {
        let (queue, _, _) = try services(of: ScriptedClaims())
        let groups = (0..<3).map { DeliveryGroup.test([.test("\($0)")]) }
        let before = ContinuousClock.now - .seconds(20)
        await queue.submitClaimed(groups.map { LeasedGroup(group: $0, readPoint: point, readAt: before) })
        let leases = RenewedLeases(renewed: [groups[0].id], passed: [groups[1].id])
        let now = ContinuousClock.now
        let lost = queue.renewed(at: now, asked: Set(groups.map(\.id)), leases)
        #expect(lost.map(\.id) == [groups[2].id])
        let leasedAt = Dictionary(queue.waiting.map { ($0.group.id, $0.leasedAt) }) { first, _ in first }
        #expect(leasedAt == [groups[0].id: now, groups[1].id: before])
    }
}
