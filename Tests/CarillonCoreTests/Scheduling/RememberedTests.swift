import CarillonCore
import CarillonTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct RememberedTests {
    private struct Away: Error {}

    /// Numbers its answers, and waits with each while it is closed.
    private final class Source: Sendable {
        private let state = Mutex((readings: 0, answered: 0, isAway: false))

        var readings: Int { state.withLock(\.readings) }

        func close() { state.withLock { $0.answered = $0.readings } }
        /// Lets so many more readings end.
        func answer(_ count: Int = .max / 2) { state.withLock { $0.answered += count } }
        func isAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

        func read() async throws -> Int {
            let number = state.withLock { state in
                state.readings += 1
                return state.readings
            }
            try await waitUntil { state.withLock { number <= $0.answered } }
            if state.withLock(\.isAway) { throw Away() }
            return number
        }
    }

    private let source = Source()
    private let time = ManualTime(.seconds(0))
    private let now: @Sendable () -> ContinuousClock.Instant
    private let key: NetworkID = "a"

    init() {
        now = time.monotonic
        source.answer()
    }

    private func memory() -> Remembered<NetworkID, Int> {
        Remembered(capacity: 100, now: now) { _, readAt in readAt + .seconds(2) }
    }

    @Sendable private static func network(_ key: String) -> NetworkID? { key.hasPrefix("a") ? "a" : "b" }

    private func value(_ memory: Remembered<NetworkID, Int>, _ key: NetworkID = "a") async throws -> Int {
        try await memory.value(of: key) { try await self.source.read() }
    }

    @Test func `a value is read once in its time, which begins with the reading`() async throws {
        let memory = memory()
        source.close()
        async let first = value(memory)
        try await waitUntil { source.readings == 1 }
        time.advance(by: .seconds(1))
        source.answer()
        #expect(try await first == 1)
        #expect(memory.remembered(key) == 1)
        #expect(try await value(memory) == 1)
        time.advance(by: .seconds(1))
        #expect(memory.remembered(key) == nil && memory.last(key) == 1)
        #expect(try await value(memory) == 2)
    }

    @Test func `those who ask at the same time share a reading, be it that what there is cannot be used`()
        async throws
    {
        let memory = memory()
        _ = try await value(memory)
        source.close()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask { try await memory.value(of: "a", while: { $0 > 1 }) { try await source.read() } }
            }
            try await waitUntil { source.readings == 2 }
            #expect(memory.isReading(key))
            #expect(try await value(memory) == 1)
            source.answer()
            for try await value in group { #expect(value == 2) }
        }
        #expect(!memory.isReading(key) && source.readings == 2)
    }

    @Test func `who gives up does not wait, and the others get what is read`() async throws {
        let memory = memory()
        source.close()
        let first = Task { try await value(memory) }
        try await waitUntil { source.readings == 1 }
        let second = Task { try await value(memory) }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        source.answer()
        #expect(try await second.value == 1)
    }

    @Test(arguments: [true, false])
    func `a reading that began before its value was forgotten is neither shared nor kept`(isAll: Bool) async throws {
        let memory = memory()
        source.close()
        async let former = value(memory)
        try await waitUntil { source.readings == 1 }
        memory.forget(isAll ? nil : key)
        async let present = value(memory)
        try await waitUntil { source.readings == 2 }
        source.answer()
        #expect(try await (former, present) == (1, 2))
        #expect(try await value(memory) == 2)
    }

    @Test func `an error goes on to those who wait, and is not remembered`() async throws {
        let memory = memory()
        _ = try await value(memory)
        time.advance(by: .seconds(2))
        source.isAway(true)
        await #expect(throws: Away.self) { try await value(memory) }
        #expect(memory.last(key) == 1)
        source.isAway(false)
        #expect(try await value(memory) == 3)
    }

    @Test func `what is over at once is not kept, nor what was there before it`() async throws {
        let memory = Remembered<NetworkID, Int>(capacity: 10, now: now) { value, readAt in readAt + .seconds(value) }
        memory.keep(1, as: key, readAt: now())
        #expect(try await memory.value(of: key, while: { $0 == 0 }) { 0 } == 0)
        #expect(memory.count == 0)
    }

    @Test func `a network's values are forgotten, and no other's`() async throws {
        let memory = Remembered<String, Int>(capacity: 10, now: now, network: Self.network) { $1 + .seconds($0) }
        for key in ["a1", "a2", "b1"] { memory.keep(100, as: key, readAt: now()) }
        memory.forget(of: "a")
        #expect(memory.count == 1 && memory.remembered("b1") == 100)
        memory.forget(of: nil)
        #expect(memory.count == 0)
    }

    @Test func `what is over makes room, and then of the largest shares what would be over first`() {
        let memory = Remembered<String, Int>(capacity: 12, now: now, network: Self.network) { $1 + .seconds($0) }
        memory.keep(1, as: "b-over", readAt: now())
        for number in 0..<9 { memory.keep(100 - number, as: "a\(number)", readAt: now()) }
        for number in 0..<2 { memory.keep(10, as: "b\(number)", readAt: now()) }
        #expect(memory.count == 12)
        time.advance(by: .seconds(1))
        memory.keep(10, as: "b2", readAt: now())
        #expect(memory.count == 10 && memory.last("b-over") == nil)
        #expect((0..<9).filter { memory.remembered("a\($0)") != nil } == [0, 1, 2, 3, 4, 5, 6])
        #expect((0..<3).allSatisfy { memory.remembered("b\($0)") != nil })
    }

    @Test func `it stays within its capacity, whoever wants it all`() {
        let memory = Remembered<Int, Int>(capacity: 10, now: now) { $1 + .seconds($0) }
        for key in 0..<1_000 {
            memory.keep(1_000 - key, as: key, readAt: now())
            #expect(memory.count <= 10 && memory.remembered(key) != nil)
        }
    }
}
