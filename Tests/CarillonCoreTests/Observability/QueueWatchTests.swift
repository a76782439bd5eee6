import CarillonTesting
import Metrics
import Synchronization
import Testing

@testable import CarillonCore

@Suite struct QueueWatchTests {
    private struct Refused: Error, CustomStringConvertible {
        var description = "refused"
    }

    private static let failure = "What is due cannot be worked on"
    private static let recovery = "What is due can be worked on again"

    private let log = CollectedLog()

    private func watch(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) -> QueueWatch {
        QueueWatch(factory: NOOPMetricsHandler.instance, logger: log.logger, now: now)
    }

    @Test func `the first failure is written, then one line a minute with how many there were`() async {
        let time = Mutex(ContinuousClock.now)
        let watch = watch { time.withLock(\.self) }
        for _ in 0..<10 {
            let answer: Int? = await watch.attempt(.deliveries) { throw Refused() }
            #expect(answer == nil)
        }
        #expect(log.lines(Self.failure).map { $0["failures"] } == ["1"])
        time.withLock { $0 += .seconds(60) }
        for _ in 0..<10 { await watch.attempt(.deliveries) { throw Refused() } }
        let lines = log.lines(Self.failure)
        #expect(lines.map { $0["failures"] } == ["1", "10"])
        #expect(lines.allSatisfy { $0["step"] == "claiming due deliveries" && $0["error"] == "refused" })
    }

    @Test func `each step has lines of its own`() async {
        let watch = watch()
        for step in QueueStep.allCases + QueueStep.allCases { await watch.attempt(step) { throw Refused() } }
        #expect(Set(log.lines(Self.failure).compactMap { $0["step"] }).count == QueueStep.allCases.count)
        #expect(log.lines(Self.failure).count == QueueStep.allCases.count)
    }

    @Test func `a step that fails now and then writes no more than a line a minute of each kind`() async {
        let watch = watch()
        for number in 0..<10 {
            await watch.attempt(.events) { throw Refused() }
            let answer = await watch.attempt(.events) { number }
            #expect(answer == number)
        }
        #expect(log.lines(Self.failure).count == 1)
        #expect(log.lines(Self.recovery).map { $0["step"] } == ["claiming accepted events"])
    }

    @Test func `who is told to stop in the middle has not failed`() async {
        let watch = watch()
        let task = Task {
            await watch.attempt(.events) {
                await waitUntilCancelled()
                throw CancellationError()
            }
        }
        task.cancel()
        await task.value
        #expect(log.text.isEmpty)
        #expect(watch.failures(among: QueueStep.allCases).isEmpty)
    }

    @Test(arguments: [(61, true), (60, false), (0, false)])
    func `a queue is stuck while work has been due for more than a minute and claims fail`(
        seconds: Int,
        isStuck: Bool
    ) async throws {
        let watch = watch()
        await watch.attempt(.deliveries) { throw Refused() }
        let stuck = try await watch.stuckQueue { .seconds(seconds) }
        let failure = StuckQueue.Failure(step: .deliveries, reason: "refused")
        #expect(stuck == (isStuck ? StuckQueue(waited: .seconds(seconds), failures: [failure]) : nil))
        let words = "work has been due for 61 s, and claiming due deliveries fails: refused"
        #expect(stuck.map { $0.description == words } ?? true)

        await watch.attempt(.deliveries) {}
        #expect(try await watch.stuckQueue { .seconds(seconds) } == nil, "claims work again")
    }

    @Test func `nobody is asked how long work has been due while claims work, whatever else fails`() async throws {
        let watch = watch()
        for step in QueueStep.allCases where !QueueStep.claims.contains(step) {
            await watch.attempt(step) { throw Refused() }
        }
        #expect(try await watch.stuckQueue { throw Refused() } == nil)
    }
}

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
