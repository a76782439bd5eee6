import CarillonTesting
import Logging
import Metrics
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct SettlerTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)

    private func page(of group: DeliveryGroup, _ target: Target) -> Settlement {
        let record = DeviceRecord(
            deviceID: target.deviceID,
            userID: target.userID,
            state: .delivered,
            attempts: 1,
            at: testNow
        )
        return Settlement(group: group, records: [record], remainders: [])
    }

    @Test func `a group of which one page can never be written is left to its lease`() async throws {
        let bad = DeliveryGroup.test([.test("a"), .test("b")])
        let good = DeliveryGroup.test([.test("c")])
        let queue = WatchedQueue(MemoryStore()) { $0.records.contains { $0.deviceID == "a" } }
        let settler = Settler(queue: queue, metrics: metrics, logger: logger)
        settler.submit(page(of: bad, bad.targets[0]))
        settler.submit(page(of: good, good.targets[0]))
        settler.submit(page(of: bad, bad.targets[1]))
        settler.close()
        await settler.run()
        #expect(settler.hasAbandoned(bad), "its lease must not be renewed")
        #expect(!settler.hasAbandoned(good))
        let late = DeliveryGroup.test([.test("d")])
        settler.submit(page(of: bad, bad.targets[1]))
        settler.submit(page(of: late, late.targets[0]))
        settler.close()
        await settler.run()
        #expect(
            queue.settlements.map(\.group.id) == [good.id, late.id],
            "later pages would end the group without the lost one"
        )
        var again = bad
        again.leaseToken += 1
        #expect(!settler.hasAbandoned(again), "whoever claims it sends all of it again")
        settler.forget(bad)
        #expect(!settler.hasAbandoned(bad))
    }
}
