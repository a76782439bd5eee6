import Synchronization
import Testing

@testable import CarillonCore

@Suite struct LineAllowanceTests {
    @Test func `so many lines go through in a while, and those beyond are counted`() {
        let time = Mutex(ContinuousClock.now)
        let allowance = LineAllowance(lines: 2, within: .seconds(10)) { time.withLock(\.self) }
        let verdicts = (0..<5).map { _ in allowance.take() }
        #expect(verdicts == [.write, .write, .omitFirst, .omit, .omit])
        #expect(allowance.takeOmitted() == 3)
        #expect(allowance.takeOmitted() == 0)
        #expect(allowance.take() == .omitFirst, "each number that is taken is followed by another")
        #expect(!allowance.isUnused)
        time.withLock { $0 += allowance.window }
        #expect(!allowance.isUnused, "a line is untold")
        #expect(allowance.takeOmitted() == 1 && allowance.isUnused)
        #expect(allowance.take() == .write)
    }
}
