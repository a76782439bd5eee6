import CarillonCore
import Testing

@testable import CarillonEdge

@Suite struct NetworkMemoryTests {
    private let now = ContinuousClock.now
    private let acme = NetworkID(trusted: "acme")
    private let other = NetworkID(trusted: "other")

    @Test func `a network that has too much forgets what would have been forgotten first, and another's is kept`() {
        var memory = NetworkMemory<Int, Int>(ownCapacity: 8, capacity: 100)
        memory.remember(0, 0, in: other, until: now + .seconds(1), at: now)
        for key in 0..<9 { memory.remember(key, key, in: acme, until: now + .seconds(100 - key), at: now) }
        #expect((0..<9).filter { memory.value($0, in: acme, at: now) != nil } == [0, 1, 2, 3, 4, 5, 8])
        #expect(memory.value(0, in: other, at: now) == 0)
        #expect(memory.count == 8)
    }

    @Test func `where all have too much together, the one makes room that has most`() {
        var memory = NetworkMemory<Int, Int>(ownCapacity: 100, capacity: 10)
        memory.remember(0, 0, in: other, until: now + .seconds(1), at: now)
        for key in 0..<100 {
            memory.remember(key, key, in: acme, until: now + .seconds(2), at: now)
            #expect(memory.count <= 10)
        }
        #expect(memory.value(0, in: other, at: now) == 0)
    }

    @Test func `what is over or forgotten is not there, and what is remembered again is there once`() {
        var memory = NetworkMemory<Int, Int>(ownCapacity: 8, capacity: 8)
        memory.remember(1, 0, in: acme, until: now + .seconds(1), at: now)
        memory.remember(2, 0, in: acme, until: now + .seconds(2), at: now)
        #expect(memory.count == 1 && memory.value(0, in: acme, at: now + .seconds(1)) == 2)
        #expect(memory.value(0, in: acme, at: now + .seconds(2)) == nil)
        memory.forget(0, in: acme)
        #expect(memory.count == 0 && memory.value(0, in: acme, at: now) == nil)
    }
}
