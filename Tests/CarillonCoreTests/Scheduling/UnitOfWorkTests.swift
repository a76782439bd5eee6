import CarillonTesting
import Testing

@testable import CarillonCore

@Suite struct UnitOfWorkTests {
    private struct Away: TransientError {
        let isTransient = true
    }

    private struct Refused: Error {}

    private struct LostInCommit: TransientError {
        let isTransient = true
        let isOutcomeUnknown = true
    }

    @Test func `the stores' calls find the unit that they are part of`() async throws {
        #expect(UnitOfWork.current == nil)
        try await UnitOfWork.run(within: .seconds(60)) {
            let deadline = try #require(UnitOfWork.current?.deadline)
            #expect(deadline > .now + .seconds(50))
            await Task { #expect(UnitOfWork.current?.deadline == deadline) }.value
        }
    }

    @Test func `what fails after a part was written has an unknown outcome`() async {
        let error = await #expect(throws: OutcomeUnknown.self) {
            try await UnitOfWork.run(within: .seconds(60)) {
                UnitOfWork.current?.noteWrite()
                throw Away()
            }
        }
        #expect(error?.isTransient == true)
        #expect(error?.isOutcomeUnknown == true)
    }

    @Test func `what fails before anything was written says so, and a refusal stays one`() async {
        await #expect(throws: Away.self) {
            try await UnitOfWork.run(within: .seconds(60)) { throw Away() }
        }
        await #expect(throws: Refused.self) {
            try await UnitOfWork.run(within: .seconds(60)) {
                UnitOfWork.current?.noteWrite()
                throw Refused()
            }
        }
    }

    @Test func `the time that a caller took is given back, and work of any size has no end`() throws {
        let unit = UnitOfWork(within: .seconds(60))
        let first = try #require(unit.deadline)
        unit.restart()
        #expect(try #require(unit.deadline) > first)
        unit.liftDeadline()
        #expect(unit.deadline == nil)
        unit.restart()
        #expect(unit.deadline == nil)
    }

    @Test func `work that ends late is answered with what it ended with`() async throws {
        let late = try await withDeadline(.zero, margin: .milliseconds(1)) {
            await waitUntilCancelled()
            return 7
        }
        #expect(late == 7)
        await #expect(throws: LostInCommit.self) {
            try await withDeadline(.zero, margin: .milliseconds(1)) {
                await waitUntilCancelled()
                throw LostInCommit()
            }
        }
        await #expect(throws: DeadlineExceeded.self) {
            try await withDeadline(.zero, margin: .milliseconds(1)) { try await Task.sleep(for: .seconds(60)) }
        }
    }
}
