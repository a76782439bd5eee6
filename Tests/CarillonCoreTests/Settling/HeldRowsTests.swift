import CarillonTesting
import Metrics
import ServiceLifecycle
import Synchronization
import Testing

@testable import CarillonCore

/// Outcomes of a network of which somebody holds rows.
@Suite(.timeLimit(.minutes(1))) struct HeldRowsTests {
    /// Waits in vain for the rows of a network until they are let go.
    private final class LockedLog: OutcomeLog {
        private struct RowIsLocked: TransientError {
            var isTransient: Bool { true }
            var isContention: Bool { true }
        }

        private struct State {
            var isLocked = true
            var refused = 0
            var settled: [Settlement] = []
        }

        private let locked: NetworkID
        private let state = Mutex(State())

        init(_ locked: NetworkID) { self.locked = locked }

        /// How many writes were in vain.
        var refused: Int { state.withLock(\.refused) }

        func letGo() { state.withLock { $0.isLocked = false } }

        func lock() { state.withLock { $0.isLocked = true } }

        /// The devices of a network that were written down, in their order.
        func devices(of network: NetworkID) -> [DeviceID] {
            state.withLock(\.settled).filter { $0.group.lane.networkID == network }
                .flatMap { $0.records.map(\.deviceID) }
        }

        func settle(_ settlements: [Settlement], lockWait: Duration) async throws -> SettleReceipt {
            try state.withLock { state in
                if state.isLocked, settlements.contains(where: { $0.group.lane.networkID == locked }) {
                    state.refused += 1
                    throw RowIsLocked()
                }
                state.settled += settlements
            }
            return SettleReceipt()
        }
    }

    private let log = LockedLog("a")
    private let sending: SendingQueue
    private let settler: Settler

    init() throws {
        let stores = try StoreScene.unconnected()
        let logger = TestDatabase.logger
        sending = SendingQueue(claims: stores.queue, logger: logger)
        let lanes = LaneHealth(store: stores.queue, devices: stores.devices, queue: sending, logger: logger)
        let metrics = PipelineMetrics(factory: NOOPMetricsHandler.instance)
        settler = Settler(log: log, lanes: lanes, metrics: metrics, logger: logger)
    }

    private func whileRunning(_ body: () async throws -> Void) async throws {
        let group = ServiceGroup(services: [settler], logger: TestDatabase.logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result = await Result { try await body() }
            log.letGo()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            try result.get()
        }
    }

    /// Says of a device of a group that it was reached long ago, and that the devices behind it are being sent to.
    private func submit(_ group: DeliveryGroup, _ index: Int) {
        let rest = Array(group.targets[(index + 1)...])
        var settlement = Settlement(
            group: group,
            records: [group.targets[index].record(.delivered, at: testNow)],
            remainders: rest.isEmpty ? [] : [Remainder(targets: rest, attempt: 0, delay: nil)]
        )
        settlement.since = .now - .seconds(1)
        settler.submit(settlement)
    }

    @Test func `a network of which somebody holds rows keeps no other one waiting, and loses nothing`() async throws {
        let groups = ["1", "2"].map { name in DeliveryGroup.test((0..<4).map { .test("\(name)-\($0)") }, network: "a") }
        let others = (0..<20).map { DeliveryGroup.test([.test("b-\($0)")], network: "b") }
        try await whileRunning {
            for (number, other) in others.enumerated() {
                if number % 5 == 0 { for group in groups { submit(group, number / 5) } }
                submit(other, 0)
                try await eventually { log.devices(of: "b").count == number + 1 }
            }
            try await eventually { log.refused > 3 && !settler.isBehind }
            #expect(log.devices(of: "b") == others.map { $0.targets[0].deviceID })
            #expect(log.devices(of: "a").isEmpty)
            #expect(Set(settler.groups.map(\.id)).isSuperset(of: groups.map(\.id)), "their leases are renewed")
            log.letGo()
            try await eventually { settler.backlog == 0 && log.devices(of: "a").count == 8 }
            for (group, name) in zip(groups, ["1", "2"]) {
                let devices = log.devices(of: "a").filter { $0.rawValue.hasPrefix(name) }
                #expect(devices == group.targets.map(\.deviceID))
            }
        }
    }

    @Test func `nothing more is sent or claimed of such a network until its outcomes are written`() async throws {
        let point = ReadPoint("0", moment: testNow)
        await sending.submitClaimed(
            ["a", "b"].map { network in
                let group = DeliveryGroup.test([.test("late")], network: network)
                return LeasedGroup(group: group, readPoint: point, readAt: .now)
            }
        )
        try await whileRunning {
            submit(.test([.test("d")], network: "a"), 0)
            try await eventually { sending.withheld == ["a"] }
            #expect(sending.exclusions.networks == ["a"])
            #expect(sending.next().map(\.tenant) == ["b"])
            #expect(sending.next().isEmpty)
            log.letGo()
            try await eventually { sending.withheld.isEmpty }
            #expect(sending.next().map(\.tenant) == ["a"])
            log.lock()
            submit(.test([.test("e")], network: "a"), 0)
            try await eventually { sending.withheld == ["a"] }
        }
        #expect(log.devices(of: "a") == ["d", "e"], "a shutdown waits for it")
    }
}
