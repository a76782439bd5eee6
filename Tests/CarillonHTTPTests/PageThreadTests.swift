import Foundation
import Synchronization
import Testing

@testable import CarillonEdge

@Suite(.timeLimit(.minutes(1))) struct PageThreadTests {
    #if os(Linux)
        @Test func `it is as nice as everything else`() async {
            let before = await Self.niceness()
            #expect(await withTaskExecutorPreference(PageThread()) { await Self.niceness() } == before)
        }
    #endif

    @Test func `tasks go on in the order in which they came, one at a time`() async {
        let thread = PageThread()
        let atWork = AtWork()
        let steps = await withTaskGroup(of: [Int].self) { group in
            for number in 0..<50 {
                group.addTask(executorPreference: thread) {
                    var seen: [Int] = []
                    for _ in 0..<20 {
                        seen.append(atWork.count.add(1, ordering: .relaxed).newValue)
                        atWork.count.subtract(1, ordering: .relaxed)
                        await Task.yield()
                    }
                    return seen + [number]
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(steps.allSatisfy { $0.dropLast().allSatisfy { $0 == 1 } })
        #expect(steps.map(\.last) == (0..<50).map(Optional.some))
    }

    private final class AtWork: Sendable {
        let count = Atomic(0)
    }

    /// How far the thread that this runs on stands back.
    @concurrent private static func niceness() async -> Int32 { nice(0) }
}
