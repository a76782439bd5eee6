import CarillonCore
import Synchronization
import Testing

@testable import CarillonProviders

@Suite struct RememberedCredentialsTests {
    private final class Shelf: Sendable {
        private let state = Mutex<(credential: String?, readings: Int, now: ContinuousClock.Instant)>((nil, 0, .now))

        var readings: Int { state.withLock(\.readings) }
        var now: ContinuousClock.Instant { state.withLock(\.now) }

        func put(_ credential: String?) { state.withLock { $0.credential = credential } }

        func pass(_ time: Duration) { state.withLock { $0.now += time } }

        func read() -> String? {
            state.withLock { state in
                state.readings += 1
                return state.credential
            }
        }
    }

    private let shelf = Shelf()
    private let acme = NetworkID(trusted: "acme")

    private func remembered() -> RememberedCredentials<String> {
        RememberedCredentials(now: { [shelf] in shelf.now }, read: { [shelf] _, _ in shelf.read() })
    }

    @Test func `reads once in ten seconds, also when there is none`() async throws {
        let credentials = remembered()
        for _ in 0..<3 { #expect(try await credentials.credential(of: acme, for: "app")?.value == nil) }
        #expect(shelf.readings == 1)
        shelf.put("key")
        shelf.pass(.seconds(10))
        for _ in 0..<3 { #expect(try await credentials.credential(of: acme, for: "app")?.value == "key") }
        #expect(shelf.readings == 2)
        _ = try await credentials.credential(of: acme, for: "other")
        #expect(shelf.readings == 3)
    }

    @Test func `forgets a network's credentials when told to`() async throws {
        let credentials = remembered()
        _ = try await credentials.credential(of: acme)
        shelf.put("key")
        credentials.forget(in: NetworkID(trusted: "other"))
        #expect(try await credentials.credential(of: acme)?.value == nil)
        credentials.forget(in: acme)
        #expect(try await credentials.credential(of: acme)?.value == "key")
    }

    @Test func `does not keep what was read before it was told to forget`() async throws {
        let shelf = self.shelf
        let memory = Mutex<RememberedCredentials<String>?>(nil)
        let credentials = RememberedCredentials<String>(now: { shelf.now }) { network, _ in
            let former = shelf.read()
            memory.withLock { $0 }?.forget(in: network)
            return former
        }
        memory.withLock { $0 = credentials }
        _ = try await credentials.credential(of: acme)
        shelf.put("key")
        #expect(try await credentials.credential(of: acme)?.value == "key")
    }

    @Test func `a failure is not remembered`() async throws {
        struct Away: Error {}
        let isAway = Mutex(true)
        let credentials = RememberedCredentials<String> { _, _ in
            if isAway.withLock(\.self) { throw Away() }
            return "key"
        }
        await #expect(throws: Away.self) { try await credentials.credential(of: self.acme) }
        isAway.withLock { $0 = false }
        #expect(try await credentials.credential(of: acme)?.value == "key")
    }

    @Test func `who has a credential in hand learns that it is not to be sent with any more`() async throws {
        let credentials = remembered()
        shelf.put("key")
        let former = try #require(try await credentials.credential(of: acme))
        credentials.forget(in: NetworkID(trusted: "other"))
        #expect(former.isCurrent())
        credentials.forget(in: acme)
        #expect(!former.isCurrent())
        #expect(try await credentials.credential(of: acme)?.isCurrent() == true)
    }

    @Test func `apps without a credential cost no reading each, however many there are`() async throws {
        let shelf = self.shelf
        let lists = Mutex(0)
        let names = Mutex<Set<String>>(["app-7"])
        let credentials = RememberedCredentials<String>(
            now: { shelf.now },
            list: { _ in
                lists.withLock { $0 += 1 }
                return names.withLock(\.self)
            },
            read: { _, _ in shelf.read() }
        )
        shelf.put("key")
        func found() async throws -> Int {
            try await withThrowingTaskGroup(of: Bool.self) { [acme] tasks in
                for number in 0..<2_000 {
                    tasks.addTask { try await credentials.credential(of: acme, for: "app-\(number)") != nil }
                }
                return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
        }
        #expect(try await found() == 1)
        // Who asks while it is being read waits for the next reading; hardly anybody's comes after that.
        #expect(shelf.readings == 1 && lists.withLock(\.self) <= 5)
        let before = lists.withLock(\.self)
        #expect(try await found() == 1)
        #expect(shelf.readings == 1 && lists.withLock(\.self) == before)
        names.withLock { $0 = ["app-7", "app-8"] }
        credentials.forget(in: acme)
        #expect(try await found() == 2)
        shelf.pass(.seconds(10))
        names.withLock { $0 = [] }
        #expect(try await found() == 0)
    }

    @Test func `few are read at a time, and another network's are not the last of them`() async throws {
        let reading = Mutex((now: 0, most: 0, order: [NetworkID]()))
        let isOpen = Mutex(false)
        let credentials = RememberedCredentials<String> { network, _ in
            reading.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.order + [network]) }
            while !isOpen.withLock(\.self) { try await Task.sleep(for: .milliseconds(1)) }
            reading.withLock { $0.now -= 1 }
            return "key"
        }
        let other = NetworkID(trusted: "other")
        try await withThrowingTaskGroup(of: Void.self) { [acme] tasks in
            for number in 0..<500 {
                tasks.addTask { _ = try await credentials.credential(of: acme, for: "app-\(number)") }
            }
            while reading.withLock(\.now) < 3 { try await Task.sleep(for: .milliseconds(1)) }
            tasks.addTask { _ = try await credentials.credential(of: other) }
            while !reading.withLock({ $0.order.contains(other) }) { try await Task.sleep(for: .milliseconds(1)) }
            isOpen.withLock { $0 = true }
            try await tasks.waitForAll()
        }
        let (_, most, order) = reading.withLock(\.self)
        #expect(most <= 4 && order.count == 501)
        #expect(order.prefix(4).contains(other), "a place is left for it")
    }

    @Test func `reads each time when it is to remember nothing, and forgets nevertheless`() async throws {
        let shelf = self.shelf
        let credentials = RememberedCredentials<String>(lifetime: .zero, read: { _, _ in shelf.read() })
        shelf.put("key")
        let former = try #require(try await credentials.credential(of: acme))
        _ = try await credentials.credential(of: acme)
        #expect(shelf.readings == 2)
        credentials.forget(in: acme)
        #expect(!former.isCurrent())
    }
}
