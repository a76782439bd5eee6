import CarillonTesting
import Testing

@testable import CarillonCore

@Suite struct FanoutQueueTests {
    private let queue: FanoutQueue

    init() throws { queue = FanoutQueue(inbox: try StoreScene.unconnected().inbox, logger: TestDatabase.logger) }

    private func submit(_ count: Int, of network: NetworkID) async {
        let events = (0..<count).map { number in
            PendingEvent(Event(sourceID: "\(number)", type: .messageSent, timestamp: .seconds(0)), in: network)
        }
        let isReserved = queue.reserve(events)
        #expect(!isReserved.contains(false))
        await queue.submit(events)
    }

    @Test func `a network that has all its turns is looked at again when a batch ends, and not before`() async throws {
        await submit(FanoutQueue.eventsPerNetwork + 10, of: "loud")
        let first = try #require(queue.next())
        #expect(queue.next() != nil)
        try await Task.sleep(for: FanoutQueue.patience)
        #expect(queue.next() == nil)
        #expect(queue.momentToLookAgain() == nil)
        await submit(1, of: "quiet")
        #expect(queue.next()?.grants.map(\.item.networkID) == ["quiet"])
        queue.finished(first)
        try await Task.sleep(for: FanoutQueue.patience)
        #expect(queue.next()?.grants.count == 10)
    }

    @Test func `a network that has nothing in work is served beside those that have much there, once at a time`()
        async throws
    {
        await submit(20, of: "loud")
        let first = try #require(queue.next())
        await submit(20, of: "loud")
        await submit(2, of: "quiet")
        let newcomers = try #require(queue.next())
        #expect(newcomers.isOfNewcomers)
        #expect(newcomers.grants.map(\.item.networkID) == ["quiet"])
        await submit(1, of: "late")
        if let next = queue.next() { #expect(!next.isOfNewcomers) }
        queue.finished(newcomers)
        queue.finished(first)
    }

    @Test func `what is being expanded keeps its leases until the batch ends`() async throws {
        await submit(2, of: "a")
        let batch = try #require(queue.next())
        await submit(1, of: "b")
        #expect(queue.events.map(\.networkID).sorted() == ["a", "a", "b"])
        queue.finished(batch)
        #expect(queue.events.map(\.networkID) == ["b"])
    }

    @Test func `a few events wait for the batch before them, and no longer than a moment`() async throws {
        await submit(1, of: "a")
        _ = try #require(queue.next())
        await submit(1, of: "b")
        if queue.next() == nil {
            let moment = try #require(queue.momentToLookAgain())
            #expect(queue.momentToLookAgain() == nil)
            try await Task.sleep(until: moment)
            queue.lookAgain()
            #expect(queue.next() != nil)
        }
    }
}
