import Testing

@testable import CarillonCore

@Suite struct FairQueueTests {
    @Test func `serves keys in turn, each in its own order`() {
        var queue = FairQueue<String, Int>()
        for number in 0..<100 { queue.append(number, for: "loud") }
        queue.append(1000, for: "quiet")
        queue.append(1001, for: "quiet")
        let firstFive = queue.popFirst(5)
        #expect(firstFive == [0, 1000, 1, 1001, 2])
        #expect(queue.count == 97)
    }

    @Test func `a key that comes back waits for its turn`() {
        var queue = FairQueue<String, Int>()
        queue.append(1, for: "a")
        let first = queue.popFirst()
        #expect(first == 1)
        queue.append(2, for: "b")
        queue.append(3, for: "a")
        let rest = queue.popFirst(9)
        #expect(rest == [2, 3])
        #expect(queue.isEmpty)
    }
}

@Suite struct FairMailboxTests {
    @Test func `reserved places count, and can be given back`() {
        let mailbox = FairMailbox<String, Int>(capacity: 3)
        #expect(mailbox.reserve(2))
        #expect(!mailbox.reserve(2))
        #expect(mailbox.room == 1)
        mailbox.cancelReservation(2)
        #expect(mailbox.room == 3)
    }

    @Test func `one key cannot fill it`() {
        let mailbox = FairMailbox<String, Int>(capacity: 100)
        func add(_ key: String) -> Bool { mailbox.reserve(1, for: key) && mailbox.fill([(key, 0)], reservedFor: key) }
        var counts = ["loud": 0, "louder": 0]
        while add("loud") { counts["loud", default: 0] += 1 }
        while add("louder") { counts["louder", default: 0] += 1 }
        #expect(counts == ["loud": 50, "louder": 25])
        #expect(add("quiet"), "whoever comes later finds room")
        #expect(mailbox.reserve(24), "what was claimed was counted by its claimer")
    }

    @Test func `what a key has reserved belongs to its share`() {
        let mailbox = FairMailbox<String, Int>(capacity: 100)
        var reserved = 0
        while mailbox.reserve(5, for: "loud") { reserved += 5 }
        #expect(reserved == 50)
        #expect(mailbox.reserve(25, for: "quiet"))
        #expect(mailbox.fill((0..<40).map { ("loud", $0) }, reservedFor: "loud"))
        #expect(!mailbox.reserve(1, for: "loud"))
        mailbox.cancelReservation(10, for: "loud")
        mailbox.cancelReservation(25, for: "quiet")
        #expect(mailbox.reserve(10, for: "loud"))
        #expect(mailbox.room == 50)
    }

    @Test func `what is heavy leaves less room for others until it is taken`() async {
        let mailbox = FairMailbox<String, Int>(capacity: 10) { $0 }
        #expect(mailbox.reserve(2))
        #expect(mailbox.fill([("a", 7), ("a", 1)]))
        #expect(mailbox.room == 2)
        _ = await mailbox.take(upTo: 1)
        #expect(mailbox.room == 9)
    }

    @Test func `a taker waits for what is filled in`() async {
        let mailbox = FairMailbox<String, Int>(capacity: 10)
        async let taken = mailbox.take(upTo: 10)
        #expect(mailbox.reserve(2))
        #expect(mailbox.fill([("a", 1), ("b", 2)]))
        #expect(await taken == [1, 2])
    }

    @Test func `closing ends all waiting and lets nothing in`() async {
        let mailbox = FairMailbox<String, Int>(capacity: 10)
        #expect(mailbox.reserve(2))
        async let first = mailbox.take(upTo: 1)
        async let second = mailbox.take(upTo: 1)
        mailbox.close()
        #expect(await first.isEmpty)
        #expect(await second.isEmpty)
        #expect(!mailbox.fill([("a", 1), ("b", 2)]))
        #expect(!mailbox.reserve(1))
        #expect(mailbox.room == 0)
    }

    @Test func `what a closed mailbox holds can be given back`() async {
        let mailbox = FairMailbox<String, Int>(capacity: 10)
        #expect(mailbox.reserve(1))
        #expect(mailbox.fill([("a", 1)]))
        mailbox.close()
        #expect(await mailbox.take(upTo: 5).isEmpty)
        #expect(mailbox.drain() == [1])
    }

    @Test func `many takers lose nothing and get nothing twice`() async {
        let mailbox = FairMailbox<Int, Int>(capacity: 10_000)
        let sum = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var sum = 0
                    while true {
                        let batch = await mailbox.take(upTo: 7)
                        if batch.isEmpty { return sum }
                        sum += batch.reduce(0, +)
                    }
                }
            }
            for number in 1...1000 {
                #expect(mailbox.reserve(1))
                #expect(mailbox.fill([(number % 5, number)]))
            }
            while mailbox.count > 0 { await Task.yield() }
            mailbox.close()
            return await group.reduce(0, +)
        }
        #expect(sum == 500_500)
    }
}
