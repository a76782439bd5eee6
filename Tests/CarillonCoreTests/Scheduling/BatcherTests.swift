import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

@Suite struct BatcherTests {
    private struct Poison: Error {}
    private struct Away: TransientError { var isTransient: Bool { true } }
    private struct Locked: TransientError {
        var isTransient: Bool { true }
        var isContention: Bool { true }
    }

    /// Work that waits at a gate, so that tests decide what shares a batch.
    private final class Gate: Sendable {
        private let turnstile = Turnstile()
        let batches = Mutex<[[Int]]>([])

        func pass(_ items: [Int]) async {
            await turnstile.pass { batches.withLock { $0.append(items) } }
        }

        func open() { turnstile.open() }

        func waitForBatches(_ count: Int) async {
            while batches.withLock({ $0.count }) < count { try? await Task.sleep(for: .milliseconds(1)) }
        }
    }

    private let gate = Gate()

    private func limits(batches: Int = 1, waiting: Int = 1000, perBatch: Int = 500) -> BatchLimits {
        BatchLimits(waitingWeight: waiting, itemsPerBatch: perBatch, batches: batches, longestLockWait: .seconds(30))
    }

    private func batcher(_ limits: BatchLimits, _ gate: Gate) -> Batcher<String, Int, Int> {
        Batcher(limits: limits, weight: { _ in 1 }) { items, _ in
            await gate.pass(items)
            return items
        }
    }

    /// Does something while a batch is in work, and waits for all requests.
    private func beside(
        _ items: [Int] = [0],
        in batcher: Batcher<String, Int, Int>,
        _ body: (inout ThrowingTaskGroup<Void, any Error>) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await batcher.submit(items, for: "a") }
            await gate.waitForBatches(1)
            try await body(&group)
            gate.open()
            try await group.waitForAll()
        }
    }

    @Test func `requests that arrive while a batch is in work share the next one`() async throws {
        let batcher = Batcher<String, Int, Int>(limits: limits(), weight: { _ in 1 }) { items, _ in
            await gate.pass(items)
            return items.map { $0 * 10 }
        }
        try await withThrowingTaskGroup(of: [Int].self) { group in
            group.addTask { try await batcher.submit([0], for: "a") }
            await gate.waitForBatches(1)
            for number in 1...20 { group.addTask { try await batcher.submit([number, -number], for: "a") } }
            while batcher.waitingWeight < 40 { try? await Task.sleep(for: .milliseconds(1)) }
            gate.open()
            var receipts: Set<[Int]> = []
            for try await receipt in group { receipts.insert(receipt) }
            #expect(receipts == Set([[0]] + (1...20).map { [$0 * 10, -$0 * 10] }))
        }
        #expect(gate.batches.withLock { $0.map(\.count) } == [1, 40])
    }

    @Test func `a batch works in nobody's time, whoever asked first`() async throws {
        let batcher = Batcher<String, Int, Bool>(limits: limits(), weight: { _ in 1 }) { items, _ in
            items.map { _ in UnitOfWork.current == nil }
        }
        let answers = try await UnitOfWork.run(within: .zero) { try await batcher.submit([1, 2], for: "a") }
        #expect(answers == [true, true])
    }

    @Test func `one request is never split, and a batch is bounded`() async throws {
        let batcher = batcher(limits(perBatch: 4), gate)
        try await beside(in: batcher) { group in
            for size in [3, 3, 9] {
                await group.queue(Array(repeating: size, count: size), for: "a", in: batcher)
            }
        }
        #expect(gate.batches.withLock { $0.map(\.count) } == [1, 3, 3, 9])
    }

    @Test func `what counts as several items fills a batch as they would`() async throws {
        let batcher = Batcher<String, Int, Int>(limits: limits(perBatch: 4), weight: { _ in 1 }, load: { $0 }) {
            items,
            _ in
            await gate.pass(items)
            return items
        }
        try await beside([1], in: batcher) { group in
            for load in [3, 1, 2, 9, 1] { await group.queue([load], for: "a", in: batcher) }
        }
        #expect(gate.batches.withLock(\.self) == [[1], [3, 1], [2], [9], [1]])
    }

    @Test func `a poisonous request fails alone`() async throws {
        let batcher = Batcher<String, Int, Int>(limits: limits(), weight: { _ in 1 }) { items, _ in
            await gate.pass(items)
            if items.contains(13) { throw Poison() }
            return items
        }
        let failures = await withTaskGroup(of: Int?.self) { group in
            group.addTask { (try? await batcher.submit([0], for: "a")) == [0] ? nil : -1 }
            await gate.waitForBatches(1)
            for number in 10...15 {
                group.addTask {
                    do {
                        return try await batcher.submit([number], for: "a") == [number] ? nil : -1
                    } catch {
                        return number
                    }
                }
            }
            while batcher.waitingWeight < 6 { try? await Task.sleep(for: .milliseconds(1)) }
            gate.open()
            return await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
        }
        #expect(failures == [13])
    }

    @Test func `nobody is tried one by one while the database is away`() async throws {
        let batcher = Batcher<String, Int, Int>(limits: limits(), weight: { _ in 1 }) { items, _ in
            await gate.pass(items)
            throw Away()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await #expect(throws: Away.self) { try await batcher.submit([0], for: "a") } }
            await gate.waitForBatches(1)
            for number in 1...5 {
                group.addTask { await #expect(throws: Away.self) { try await batcher.submit([number], for: "a") } }
            }
            while batcher.waitingWeight < 5 { try? await Task.sleep(for: .milliseconds(1)) }
            gate.open()
        }
        #expect(gate.batches.withLock { $0.count } == 2)
    }

    @Test func `there is no batch of nothing`() async throws {
        let batcher = Batcher<String, Int, Int>(limits: limits()) { items, _ in
            Issue.record("there is nothing to do")
            return items
        }
        #expect(try await batcher.submit([], for: "a") == [])
    }

    @Test func `turns callers away when too much waits`() async throws {
        let batcher = batcher(limits(waiting: 6), gate)
        try await beside(in: batcher) { group in
            await group.queue([1, 2, 3], for: "a", in: batcher)
            await #expect(throws: Overloaded.self) { try await batcher.submit([4], for: "a") }
        }
        #expect(try await batcher.submit([5], for: "a") == [5])
    }

    @Test func `work that hangs is given up, and nothing of it handed on`() async {
        let batcher = Batcher<String, Int, Int>(limits: limits(), weight: { _ in 1 }) { items, _ in
            try await withDeadline(.milliseconds(20)) { try await Task.sleep(for: .seconds(60)) }
            Issue.record("\(items) was handed on")
            return items
        }
        await #expect(throws: DeadlineExceeded.self) { try await batcher.submit([1], for: "a") }
    }

    @Test func `what waits behind a batch that takes long goes with another one`() async throws {
        let batcher = Batcher<String, Int, Int>(limits: limits(batches: 2), weight: { _ in 1 }) { items, _ in
            if items == [0] { await gate.pass(items) }
            return items
        }
        try await beside(in: batcher) { _ async throws in
            for number in 1...3 { #expect(try await batcher.submit([number], for: "a") == [number]) }
        }
    }

    @Test func `what waited while all batches were in work goes when one is through beside others that take long`()
        async throws
    {
        let gates = [Gate(), Gate(), Gate()]
        var limits = limits(batches: 3)
        limits.crowd = 1
        let batcher = Batcher<String, Int, Int>(limits: limits, weight: { _ in 1 }) { items, _ in
            if items[0] < 3 { await gates[items[0]].pass(items) }
            return items
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask { _ = try await batcher.submit([number], for: "a") }
                await gates[number].waitForBatches(1)
            }
            async let late = batcher.submit([3], for: "a")
            while batcher.waitingWeight < 1 { try? await Task.sleep(for: .milliseconds(1)) }
            gates[0].open()
            #expect(try await late == [3])
            gates[1].open()
            gates[2].open()
            try await group.waitForAll()
        }
    }

    @Test func `who has nothing in work is served beside those who have much there`() async throws {
        let batcher = Batcher<String, Int, Int>(limits: limits(), weight: { _ in 1 }) { items, _ in
            if items.contains(0) { await gate.pass(items) }
            return items
        }
        let many = Array(repeating: 0, count: BatchLimits().bulk)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await batcher.submit(many, for: "a") }
            await gate.waitForBatches(1)
            async let more = batcher.submit([1], for: "a")
            while batcher.waitingWeight < 1 { try? await Task.sleep(for: .milliseconds(1)) }
            for number in 2...4 { #expect(try await batcher.submit([number], for: "b") == [number]) }
            #expect(batcher.waitingWeight == 1)
            gate.open()
            #expect(try await more == [1])
            try await group.waitForAll()
        }
    }

    @Test func `what a batch came to is handed on together, before its callers are answered`() async throws {
        let handed = Gate()
        let batcher = Batcher<String, Int, Int>(limits: limits(), weight: { _ in 1 }) { items, _ in
            await gate.pass(items)
            handed.batches.withLock { $0.append(items) }
            return items
        }
        try await beside(in: batcher) { group in
            for number in 1...5 {
                group.addTask {
                    _ = try await batcher.submit([number], for: "a")
                    #expect(handed.batches.withLock(\.self).last?.sorted() == [1, 2, 3, 4, 5])
                }
            }
            while batcher.waitingWeight < 5 { try? await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(handed.batches.withLock { $0.map { $0.sorted() } } == [[0], [1, 2, 3, 4, 5]])
    }

    @Test func `a tenant whose rows are locked holds up nobody, and is accepted when they are released`() async throws {
        let locked = Mutex(true)
        let batcher = Batcher<String, Int, Int>(limits: limits(), weight: { _ in 1 }) { items, _ in
            await gate.pass(items)
            if items.contains(13), locked.withLock(\.self) { throw Locked() }
            return items
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await batcher.submit([0], for: "a") }
            await gate.waitForBatches(1)
            async let late = batcher.submit([13], for: "b")
            for number in 1...3 { group.addTask { _ = try await batcher.submit([number], for: "a") } }
            while batcher.waitingWeight < 4 { try? await Task.sleep(for: .milliseconds(1)) }
            gate.open()
            // The others of the batch are through although one of it is not.
            try await group.waitForAll()
            let before = gate.batches.withLock { $0.filter { $0.contains(13) }.count }
            while gate.batches.withLock({ $0.filter { $0.contains(13) }.count }) < before + 3 {
                try? await Task.sleep(for: .milliseconds(1))
            }
            #expect(try await batcher.submit([4], for: "a") == [4])
            async let later = batcher.submit([14], for: "b")
            locked.withLock { $0 = false }
            #expect(try await late == [13])
            #expect(try await later == [14])
        }
        let batches = gate.batches.withLock(\.self)
        #expect(batches.filter { $0.contains(13) && $0.count > 2 }.count == 1)
        #expect(batches.contains([4]))
    }

    @Test func `who waits for a lock for too long is told, while others go on`() async throws {
        var limits = limits()
        limits.longestLockWait = .milliseconds(50)
        let batcher = Batcher<String, Int, Int>(limits: limits, weight: { _ in 1 }) { items, _ in
            if items.contains(13) {
                try await Task.sleep(for: .milliseconds(5))
                throw Locked()
            }
            return items
        }
        await #expect(throws: Locked.self) { try await batcher.submit([13], for: "b") }
        #expect(try await batcher.submit([1], for: "a") == [1])
        #expect(try await batcher.submit([2], for: "b") == [2])
    }

    @Test func `a tenant that was locked shares batches again after a while`() async throws {
        gate.open()
        var limits = limits()
        limits.isolation = .zero
        let attempts = Mutex(0)
        let batcher = Batcher<String, Int, Int>(limits: limits, weight: { _ in 1 }) { items, lockWait in
            await gate.pass(items)
            if items.contains(13),
                attempts.withLock({
                    $0 += 1; return $0
                }) < 3
            {
                throw Locked()
            }
            return items
        }
        #expect(try await batcher.submit([13], for: "b") == [13])
        #expect(try await batcher.submit([14], for: "b") == [14])
        #expect(attempts.withLock(\.self) == 3)
    }

    @Test func `everybody is told what becomes of their own, whatever befalls the batches`() async {
        let limits = limits(batches: 3, waiting: 100_000, perBatch: 7)
        let batcher = Batcher<Int, Int, Int>(limits: limits, weight: { _ in 1 }) { items, _ in
            await Task.yield()
            if items.count > 2, Int.random(in: 0..<9) == 0 { throw Locked() }
            if items.contains(where: { $0 % 100 == 13 }) { throw Poison() }
            return items.map { -$0 }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let answers = try? await batcher.submit([number, number + 10_000], for: number % 17)
                    #expect(answers == (number % 100 == 13 ? nil : [-number, -number - 10_000]))
                }
            }
        }
        #expect(batcher.waitingWeight == 0)
    }

    @Test func `no tenant holds more than half of what can wait`() async throws {
        let batcher = batcher(limits(waiting: 8), gate)
        try await beside(in: batcher) { group in
            await group.queue([1, 2, 3, 4], for: "a", in: batcher)
            await #expect(throws: Overloaded.self) { try await batcher.submit([5], for: "a") }
            await group.queue([6, 7], for: "b", in: batcher)
        }
    }

    @Test func `tenants take turns in a batch, whatever one of them has waiting`() async throws {
        let batcher = batcher(limits(perBatch: 4), gate)
        try await beside(in: batcher) { group in
            for number in 1...20 { await group.queue([number], for: "a", in: batcher) }
            await group.queue([99], for: "b", in: batcher)
        }
        #expect(gate.batches.withLock { $0[1] } == [1, 99, 2, 3])
    }
}

extension ThrowingTaskGroup<Void, any Error> {
    /// Adds a request, and waits until it is in line.
    fileprivate mutating func queue(_ items: [Int], for tenant: String, in batcher: Batcher<String, Int, Int>) async {
        let waiting = batcher.waitingWeight
        addTask { _ = try await batcher.submit(items, for: tenant) }
        while batcher.waitingWeight == waiting { try? await Task.sleep(for: .milliseconds(1)) }
    }
}
