import CarillonTesting
import Metrics
import ServiceLifecycle
import Synchronization
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct SettlerTests {
    private let logger = TestDatabase.logger
    private let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)
    private let log = ScriptedLog()

    private func settler(_ log: some OutcomeLog) throws -> Settler {
        let stores = try StoreScene.unconnected()
        let sending = SendingQueue(claims: stores.queue, logger: logger)
        let lanes = LaneHealth(store: stores.queue, devices: stores.devices, queue: sending, logger: logger)
        return Settler(log: log, lanes: lanes, metrics: metrics, logger: logger)
    }

    /// Takes everything but what it is told to refuse, and remembers it.
    private final class ScriptedLog: OutcomeLog {
        /// A write that can never succeed.
        private struct NeverWritten: TransientError {
            var isTransient: Bool { false }
        }

        private let refuses: @Sendable (Settlement) -> Bool
        private let settled = Mutex<[[Settlement]]>([])

        init(refusing refuses: @Sendable @escaping (Settlement) -> Bool = { _ in false }) { self.refuses = refuses }

        /// What was written down.
        var settlements: [Settlement] { settled.withLock { $0.flatMap(\.self) } }

        /// How many settlements were written at a time.
        var writes: [Int] { settled.withLock { $0.map(\.count) } }

        func settle(_ settlements: [Settlement], lockWait: Duration) async throws -> SettleReceipt {
            if settlements.contains(where: refuses) { throw NeverWritten() }
            settled.withLock { $0.append(settlements) }
            return SettleReceipt()
        }
    }

    /// Lets the writes of one group hang until it is told to let them go.
    private final class HangingLog: OutcomeLog {
        private let log: ScriptedLog
        private let group: DeliveryGroup.ID
        private let state = Mutex((begun: 0, isOpen: false))

        /// How many writes were begun.
        var begun: Int { state.withLock(\.begun) }

        init(_ log: ScriptedLog, group: DeliveryGroup) {
            self.log = log
            self.group = group.id
        }

        func letGo() { state.withLock { $0.isOpen = true } }

        func settle(_ settlements: [Settlement], lockWait: Duration) async throws -> SettleReceipt {
            state.withLock { $0.begun += 1 }
            if settlements.contains(where: { $0.group.id == group }) {
                try await waitUntil { state.withLock(\.isOpen) }
            }
            return try await log.settle(settlements, lockWait: lockWait)
        }
    }

    private func writeAll(_ settler: Settler) async throws {
        let group = ServiceGroup(services: [settler], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private func page(of group: DeliveryGroup, _ target: Target) -> Settlement {
        let record = target.record(.delivered, at: testNow)
        return Settlement(group: group, records: [record], remainders: [])
    }

    @Test func `pages of a group that wait together are written as one`() async throws {
        let group = DeliveryGroup.test((0..<5).map { .test("d-\($0)") })
        let other = DeliveryGroup.test([.test("e")])
        let settler = try settler(log)
        var first = page(of: group, group.targets[0])
        first.remainders = [
            Remainder(targets: Array(group.targets[2...]), attempt: 0, delay: nil),
            Remainder(targets: [group.targets[1]], attempt: 1, delay: .seconds(1)),
        ]
        var second = page(of: group, group.targets[2])
        second.troubles = [group.targets[3].deviceID: "503"]
        second.remainders = [
            Remainder(targets: [group.targets[4]], attempt: 0, delay: nil),
            Remainder(targets: [group.targets[3]], attempt: 1, delay: .seconds(2)),
        ]
        settler.submit(first)
        settler.submit(page(of: other, other.targets[0]))
        settler.submit(second)
        settler.submit(page(of: group, group.targets[4]))
        try await writeAll(settler)
        #expect(log.settlements.map(\.group.id) == [group.id, other.id])
        let merged = try #require(log.settlements.first)
        #expect(merged.records.map(\.deviceID) == [0, 2, 4].map { group.targets[$0].deviceID })
        #expect(merged.troubles == second.troubles)
        #expect(
            merged.remainders == [second.remainders[1], first.remainders[1]],
            "what was left at first is in the later pages"
        )
    }

    @Test func `what was written, or belongs to another lease, is not changed any more`() async throws {
        let group = DeliveryGroup.test([.test("a"), .test("b")])
        var again = group
        again.leaseToken += 1
        let settler = try settler(log)
        var first = page(of: group, group.targets[0])
        first.remainders = [Remainder(targets: [group.targets[1]], attempt: 0, delay: nil)]
        settler.submit(first)
        settler.submit(page(of: again, group.targets[1]))
        try await writeAll(settler)
        settler.submit(first)
        try await writeAll(settler)
        #expect(log.settlements.map(\.group.leaseToken) == [1, 2, 1])
    }

    @Test func `a write is not larger than what others can wait for`() async throws {
        let groups = (0..<100).map { _ in DeliveryGroup.test((0..<500).map { .test("d-\($0)") }) }
        let settler = try settler(log)
        for group in groups {
            let rest = Remainder(targets: group.targets, attempt: 0, delay: .zero)
            settler.submit(Settlement(group: group, records: [], remainders: [rest]))
        }
        try await writeAll(settler)
        #expect(log.writes == [40, 40, 20])
        #expect(log.settlements.map(\.group.id) == groups.map(\.id))
    }

    @Test func `a write that hangs holds up no other group, and none of its own overtakes it`() async throws {
        let stuck = DeliveryGroup.test([.test("a"), .test("b")])
        let others = (0..<3).map { DeliveryGroup.test([.test("c-\($0)")]) }
        let written = ScriptedLog()
        let log = HangingLog(written, group: stuck)
        let settler = try settler(log)
        let group = ServiceGroup(services: [settler], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var first = page(of: stuck, stuck.targets[0])
            first.remainders = [Remainder(targets: [stuck.targets[1]], attempt: 0, delay: nil)]
            settler.submit(first)
            try await eventually { log.begun == 1 }
            settler.submit(page(of: stuck, stuck.targets[1]))
            for (number, other) in others.enumerated() {
                var settlement = page(of: other, other.targets[0])
                settlement.since = .now - .seconds(1)
                settler.submit(settlement)
                try await eventually { written.settlements.count == number + 1 }
            }
            #expect(settler.backlog == 1, "what came of the stuck group waits for its first page")
            // A group is let go of a moment after it was written.
            _ = try await eventually { Set(settler.groups.map(\.id)) == [stuck.id] ? true : nil }
            log.letGo()
            try await eventually { written.settlements.count == 5 }
            #expect(written.settlements.map(\.group.id) == others.map(\.id) + [stuck.id, stuck.id])
            #expect(written.settlements.suffix(2).map { $0.records.map(\.deviceID) } == [["a"], ["b"]])
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test func `a group of which one page can never be written is left to its lease`() async throws {
        let bad = DeliveryGroup.test([.test("a"), .test("b")])
        let good = DeliveryGroup.test([.test("c")])
        let log = ScriptedLog { $0.records.contains { $0.deviceID == "a" } }
        let settler = try settler(log)
        settler.submit(page(of: bad, bad.targets[0]))
        settler.submit(page(of: good, good.targets[0]))
        settler.submit(page(of: bad, bad.targets[1]))
        try await writeAll(settler)
        #expect(settler.hasAbandoned(bad), "its lease must not be renewed")
        #expect(!settler.hasAbandoned(good))
        let late = DeliveryGroup.test([.test("d")])
        settler.submit(page(of: bad, bad.targets[1]))
        settler.submit(page(of: late, late.targets[0]))
        try await writeAll(settler)
        #expect(
            log.settlements.map(\.group.id) == [good.id, late.id],
            "later pages would end the group without the lost one"
        )
        var again = bad
        again.leaseToken += 1
        #expect(!settler.hasAbandoned(again), "whoever claims it sends all of it again")
        settler.forget(bad)
        #expect(!settler.hasAbandoned(bad))
    }
}
