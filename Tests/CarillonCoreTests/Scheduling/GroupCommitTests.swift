import Synchronization
import Testing

@testable import CarillonCore

@Suite struct GroupCommitTests {
    private struct Poison: Error {}
    private struct Away: TransientError { var isTransient: Bool { true } }

    /// Commits that wait at a gate, so that tests decide what shares a flight.
    private final class Gate: Sendable {
        private let state = Mutex<(open: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))
        let flights = Mutex<[[Int]]>([])

        func pass(_ items: [Int]) async {
            flights.withLock { $0.append(items) }
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.open { state.waiting.append(continuation) }
                    return state.open
                }
                if isOpen { continuation.resume() }
            }
        }

        func open() {
            let waiting = state.withLock { state in
                state.open = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func waitForFlights(_ count: Int) async {
            while flights.withLock({ $0.count }) < count { await Task.yield() }
        }
    }

    private func limits(flights: Int = 1, waiting: Int = 1000, perFlight: Int = 500) -> GroupCommitLimits {
        GroupCommitLimits(waitingWeight: waiting, itemsPerFlight: perFlight, flights: flights, deadline: .seconds(30))
    }

    @Test func `requests that arrive during a commit share the next one`() async throws {
        let gate = Gate()
        let commits = GroupCommit<Int, Int>(limits: limits(), weight: { _ in 1 }) { items in
            await gate.pass(items)
            return items.map { $0 * 10 }
        }
        try await withThrowingTaskGroup(of: [Int].self) { group in
            group.addTask { try await commits.submit([0]) }
            await gate.waitForFlights(1)
            for number in 1...20 { group.addTask { try await commits.submit([number, -number]) } }
            while commits.waitingWeight < 40 { await Task.yield() }
            gate.open()
            var receipts: Set<[Int]> = []
            for try await receipt in group { receipts.insert(receipt) }
            #expect(receipts == Set([[0]] + (1...20).map { [$0 * 10, -$0 * 10] }))
        }
        #expect(gate.flights.withLock { $0.map(\.count) } == [1, 40])
    }

    @Test func `one request is never split, and a flight is bounded`() async throws {
        let gate = Gate()
        let commits = GroupCommit<Int, Int>(limits: limits(perFlight: 4), weight: { _ in 1 }) { items in
            await gate.pass(items)
            return items
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await commits.submit([0]) }
            await gate.waitForFlights(1)
            for size in [3, 3, 9] {
                let waiting = commits.waitingWeight
                group.addTask { _ = try await commits.submit(Array(repeating: size, count: size)) }
                while commits.waitingWeight == waiting { await Task.yield() }
            }
            gate.open()
            try await group.waitForAll()
        }
        #expect(gate.flights.withLock { $0.map(\.count) } == [1, 3, 3, 9])
    }

    @Test func `a poisonous request fails alone`() async throws {
        let gate = Gate()
        let commits = GroupCommit<Int, Int>(limits: limits(), weight: { _ in 1 }) { items in
            await gate.pass(items)
            if items.contains(13) { throw Poison() }
            return items
        }
        let failures = await withTaskGroup(of: Int?.self) { group in
            group.addTask { (try? await commits.submit([0])) == [0] ? nil : -1 }
            await gate.waitForFlights(1)
            for number in 10...15 {
                group.addTask {
                    do {
                        return try await commits.submit([number]) == [number] ? nil : -1
                    } catch {
                        return number
                    }
                }
            }
            while commits.waitingWeight < 6 { await Task.yield() }
            gate.open()
            return await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
        }
        #expect(failures == [13])
    }

    @Test func `nobody is tried one by one while the database is away`() async throws {
        let gate = Gate()
        let commits = GroupCommit<Int, Int>(limits: limits(), weight: { _ in 1 }) { items in
            await gate.pass(items)
            throw Away()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await #expect(throws: Away.self) { try await commits.submit([0]) } }
            await gate.waitForFlights(1)
            for number in 1...5 {
                group.addTask { await #expect(throws: Away.self) { try await commits.submit([number]) } }
            }
            while commits.waitingWeight < 5 { await Task.yield() }
            gate.open()
        }
        #expect(gate.flights.withLock { $0.count } == 2)
    }

    @Test func `turns callers away when too much waits`() async throws {
        let gate = Gate()
        let commits = GroupCommit<Int, Int>(limits: limits(waiting: 3), weight: { _ in 1 }) { items in
            await gate.pass(items)
            return items
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await commits.submit([0]) }
            await gate.waitForFlights(1)
            group.addTask { _ = try await commits.submit([1, 2, 3]) }
            while commits.waitingWeight < 3 { await Task.yield() }
            await #expect(throws: Overloaded.self) { try await commits.submit([4]) }
            gate.open()
            try await group.waitForAll()
        }
        #expect(try await commits.submit([5]) == [5])
    }

    @Test func `a commit that hangs is given up`() async {
        var limits = limits()
        limits.deadline = .milliseconds(20)
        let commits = GroupCommit<Int, Int>(limits: limits, weight: { _ in 1 }) { items in
            try await Task.sleep(for: .seconds(60))
            return items
        }
        await #expect(throws: DeadlineExceeded.self) { try await commits.submit([1]) }
    }
}
