import CarillonTesting
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct FairPlacesTests {
    private func places(
        _ count: Int = 1,
        waiting: Int = 100,
        perTenant: Int = .max,
        patience: Duration = .seconds(600)
    ) -> FairPlaces<String, String> {
        FairPlaces(
            limits: FairQueueLimits(weight: waiting, places: count, placesPerTenant: perTenant),
            patience: patience
        )
    }

    @Test func `a place goes on to whoever waits for it, and is free in the end`() async throws {
        let places = places()
        let first = try #require(await places.place(of: "acme", in: "a"))
        async let second = places.place(of: "acme", in: "a")
        try await waitUntil { places.waiting == 1 }
        first.giveBack()
        first.giveBack()
        let place = try #require(await second)
        #expect(places.taken == 1 && places.waiting == 0)
        place.giveBack()
        #expect(places.taken == 0)
    }

    @Test func `a place that nobody holds any more is free`() async throws {
        let places = places()
        _ = await places.place(of: "acme", in: "a")
        #expect(places.taken == 0)
    }

    @Test func `who finds too many waiting is told so at once`() async throws {
        let places = places(waiting: 3)
        let held = try #require(await places.place(of: "acme", in: "a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { #expect(await places.place(of: "acme", in: "a") != nil) } }
            try await waitUntil { places.waiting == 2 }
            #expect(await places.place(of: "acme", in: "a") == nil)
            held.giveBack()
            try await group.waitForAll()
        }
    }

    @Test func `nobody waits for longer than a while, and a place is not lost by it`() async throws {
        let places = places(patience: .milliseconds(10))
        let held = try #require(await places.place(of: "acme", in: "a"))
        #expect(await places.place(of: "acme", in: "a") == nil)
        #expect(places.waiting == 0)
        held.giveBack()
        #expect(await places.place(of: "acme", in: "a") != nil)
    }

    @Test func `who gives up waiting leaves the line`() async throws {
        let places = places()
        let held = try #require(await places.place(of: "acme", in: "a"))
        let task = Task { await places.place(of: "acme", in: "a") == nil }
        try await waitUntil { places.waiting == 1 }
        task.cancel()
        #expect(await task.value)
        #expect(places.waiting == 0)
        held.giveBack()
        #expect(places.taken == 0)
    }

    @Test func `while one tenant has all that it may, another finds a place`() async throws {
        let places = places(10, perTenant: 2)
        let held = [await places.place(of: "acme", in: "a"), await places.place(of: "acme", in: "b")]
        async let third = places.place(of: "acme", in: "c")
        try await waitUntil { places.waiting == 1 }
        #expect(await places.place(of: "other", in: "a") != nil)
        for place in held { place?.giveBack() }
        #expect(await third != nil)
    }

    @Test func `waiting takes nothing of the time that a unit of work has`() async throws {
        let places = places()
        let held = try #require(await places.place(of: "acme", in: "a"))
        let unit = UnitOfWork(within: .seconds(60))
        let before = try #require(unit.deadline)
        try await UnitOfWork.$current.withValue(unit) {
            async let place = places.place(of: "acme", in: "a")
            try await waitUntil { places.waiting == 1 }
            held.giveBack()
            #expect(await place != nil)
        }
        #expect(try #require(unit.deadline) > before)
    }
}
