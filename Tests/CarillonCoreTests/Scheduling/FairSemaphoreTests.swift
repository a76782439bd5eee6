import CarillonTesting
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct FairSemaphoreTests {
    private func semaphore(
        _ count: Int = 1,
        waiting: Int = 100,
        perTenant: Int = .max,
        patience: Duration = .seconds(600)
    ) -> FairSemaphore<String, String> {
        FairSemaphore(
            limits: FairQueueLimits(weight: waiting, slots: count, slotsPerTenant: perTenant),
            patience: patience
        )
    }

    @Test func `a permit goes on to whoever waits for it, and is free in the end`() async throws {
        let semaphore = semaphore()
        let first = try #require(await semaphore.permit(of: "acme", in: "a"))
        async let second = semaphore.permit(of: "acme", in: "a")
        try await waitUntil { semaphore.waiting == 1 }
        first.giveBack()
        first.giveBack()
        let permit = try #require(await second)
        #expect(semaphore.taken == 1 && semaphore.waiting == 0)
        permit.giveBack()
        #expect(semaphore.taken == 0)
    }

    @Test func `a permit that nobody holds any more is free`() async throws {
        let semaphore = semaphore()
        _ = await semaphore.permit(of: "acme", in: "a")
        #expect(semaphore.taken == 0)
    }

    @Test func `who finds too many waiting is told so at once`() async throws {
        let semaphore = semaphore(waiting: 3)
        let held = try #require(await semaphore.permit(of: "acme", in: "a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { #expect(await semaphore.permit(of: "acme", in: "a") != nil) } }
            try await waitUntil { semaphore.waiting == 2 }
            #expect(await semaphore.permit(of: "acme", in: "a") == nil)
            held.giveBack()
            try await group.waitForAll()
        }
    }

    @Test func `nobody waits for longer than a while, and a permit is not lost by it`() async throws {
        let semaphore = semaphore(patience: .milliseconds(10))
        let held = try #require(await semaphore.permit(of: "acme", in: "a"))
        #expect(await semaphore.permit(of: "acme", in: "a") == nil)
        #expect(semaphore.waiting == 0)
        held.giveBack()
        #expect(await semaphore.permit(of: "acme", in: "a") != nil)
    }

    @Test func `who gives up waiting leaves the line`() async throws {
        let semaphore = semaphore()
        let held = try #require(await semaphore.permit(of: "acme", in: "a"))
        let task = Task { await semaphore.permit(of: "acme", in: "a") == nil }
        try await waitUntil { semaphore.waiting == 1 }
        task.cancel()
        #expect(await task.value)
        #expect(semaphore.waiting == 0)
        held.giveBack()
        #expect(semaphore.taken == 0)
    }

    @Test func `while one tenant has all that it may, another finds a permit`() async throws {
        let semaphore = semaphore(10, perTenant: 2)
        let held = [await semaphore.permit(of: "acme", in: "a"), await semaphore.permit(of: "acme", in: "b")]
        async let third = semaphore.permit(of: "acme", in: "c")
        try await waitUntil { semaphore.waiting == 1 }
        #expect(await semaphore.permit(of: "other", in: "a") != nil)
        for permit in held { permit?.giveBack() }
        #expect(await third != nil)
    }

    @Test func `waiting takes nothing of the time that a unit of work has`() async throws {
        let semaphore = semaphore()
        let held = try #require(await semaphore.permit(of: "acme", in: "a"))
        let unit = UnitOfWork(within: .seconds(60))
        let before = try #require(unit.deadline)
        try await UnitOfWork.$current.withValue(unit) {
            async let permit = semaphore.permit(of: "acme", in: "a")
            try await waitUntil { semaphore.waiting == 1 }
            held.giveBack()
            #expect(await permit != nil)
        }
        #expect(try #require(unit.deadline) > before)
    }
}
