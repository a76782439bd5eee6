import Testing

@testable import CarillonCore

@Suite struct BatchPacingTests {
    private let now = ContinuousClock.now

    /// Which of some wishes to begin are granted, each with so many waiting so many milliseconds after the first.
    private func begin(_ pacing: inout BatchPacing, _ wishes: (waiting: Int, milliseconds: Int)...) -> [Bool] {
        wishes.map { pacing.begin(waiting: $0.waiting, at: now + .milliseconds($0.milliseconds)) }
    }

    private func pacing() -> BatchPacing { BatchPacing(maximum: 3, crowd: 10, patience: .milliseconds(20)) }

    @Test func `the first batch begins at once, and none for nothing`() {
        var pacing = pacing()
        #expect(begin(&pacing, (0, 0)) == [false])
        #expect(pacing.momentToLookAgain(waiting: 0) == nil)
        #expect(begin(&pacing, (1, 0)) == [true])
    }

    @Test func `a few wait for the batch before them`() {
        var pacing = pacing()
        #expect(begin(&pacing, (1, 0), (9, 19)) == [true, false])
        pacing.end(now)
        #expect(begin(&pacing, (9, 19)) == [true])
    }

    @Test func `many do not wait, as long as there is a slot`() {
        var pacing = pacing()
        #expect(begin(&pacing, (10, 0), (10, 1), (10, 2), (1_000, 900)) == [true, true, true, false])
        #expect(pacing.momentToLookAgain(waiting: 1_000) == nil)
        pacing.end(now + .milliseconds(1))
        #expect(begin(&pacing, (10, 3)) == [true])
    }

    @Test func `a batch that takes long holds up nobody`() {
        var pacing = pacing()
        #expect(begin(&pacing, (1, 0)) == [true])
        #expect(pacing.momentToLookAgain(waiting: 1) == now + .milliseconds(20))
        pacing.lookAgain()
        #expect(begin(&pacing, (1, 20)) == [true])
        #expect(pacing.momentToLookAgain(waiting: 1) == now + .milliseconds(40))
        #expect(begin(&pacing, (1, 25)) == [false])
        pacing.end(now + .milliseconds(20))
        #expect(begin(&pacing, (1, 25)) == [true])
    }

    @Test func `one looks again for all, and nobody while nothing waits`() {
        var pacing = pacing()
        #expect(begin(&pacing, (1, 0)) == [true])
        #expect(pacing.momentToLookAgain(waiting: 0) == nil)
        #expect(pacing.momentToLookAgain(waiting: 1) != nil)
        #expect(pacing.momentToLookAgain(waiting: 1) == nil)
        pacing.lookAgain()
        #expect(pacing.momentToLookAgain(waiting: 1) != nil)
    }
}
