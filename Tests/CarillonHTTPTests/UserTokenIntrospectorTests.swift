import CarillonCore
import CarillonTesting
import Metrics
import HTTPTypes
import Synchronization
import Testing

@testable import CarillonEdge

@Suite(.timeLimit(.minutes(1))) struct UserTokenIntrospectorTests {
    private let introspection = UserTokenIntrospection(url: "https://a.example/", userIDPointer: "/id", cacheTime: 60)

    /// Answers when it is let, and counts.
    private final class Backend: UserTokenAsker {
        private let turnstile: Turnstile
        private let questions = Mutex<[String]>([])
        private let answer: @Sendable (String) -> UserTokenAnswer

        init(isOpen: Bool = true, _ answer: @escaping @Sendable (String) -> UserTokenAnswer) {
            turnstile = Turnstile(isOpen: isOpen)
            self.answer = answer
        }

        var asked: Int { tokens.count }
        var tokens: [String] { questions.withLock(\.self) }

        /// Answers one question that waits.
        func answerOne() { turnstile.letOneThrough() }

        func close() { turnstile.close() }

        func open() { turnstile.open() }

        func ask(
            _ introspection: UserTokenIntrospection,
            about token: Secret,
            in network: NetworkID
        ) async -> UserTokenAnswer {
            await turnstile.pass { questions.withLock { $0.append(token.reveal(\.self)) } }
            return token.reveal(answer)
        }
    }

    private func introspector(
        _ backend: Backend,
        capacity: Int = 100,
        patience: Duration = .seconds(600),
        time: ManualTime = ManualTime(TestAPI.now)
    ) -> UserTokenIntrospector {
        UserTokenIntrospector(
            asker: backend,
            metrics: NOOPMetricsHandler.instance,
            capacity: capacity,
            patience: patience,
            now: time.monotonic
        )
    }

    private func user(
        _ token: String,
        _ introspector: UserTokenIntrospector,
        by introspection: UserTokenIntrospection? = nil,
        in network: NetworkID = NetworkID(trusted: "acme"),
        from address: UInt32 = 1,
        isSuspect: Bool = false
    ) async throws -> UserID? {
        try await introspector.user(
            of: token,
            by: introspection ?? self.introspection,
            in: network,
            from: .v4(address),
            isSuspect: isSuspect
        )
    }

    /// Asks about so many tokens that somebody has invented.
    private func invent(
        _ count: Int,
        _ introspector: UserTokenIntrospector,
        in network: NetworkID = NetworkID(trusted: "acme"),
        from address: UInt32,
        _ group: inout ThrowingTaskGroup<Void, any Error>
    ) {
        for number in 0..<count {
            group.addTask {
                _ = try? await user("invented-\(address)-\(number)", introspector, in: network, from: address)
            }
        }
    }

    private static let permits = UserTokenIntrospection.questionsAtOnce

    @Test func `a server that hangs takes a network's permits, and no other network's`() async throws {
        let backend = Backend(isOpen: false) { _ in .nobody }
        let introspector = introspector(backend)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for address in 1...4 { invent(10, introspector, from: UInt32(address), &group) }
            try await waitUntil { backend.asked == Self.permits && introspector.waiting == 40 - Self.permits }
            group.addTask { _ = try await user("t", introspector, in: "other") }
            try await waitUntil { backend.asked == Self.permits + 1 }
            backend.open()
            try await group.waitForAll()
        }
        #expect(backend.asked == 41 && introspector.waiting == 0)
    }

    @Test func `all networks together have so many permits, and one that comes later its share of them`() async throws {
        let backend = Backend(isOpen: false) { _ in .nobody }
        let introspector = introspector(backend, capacity: 1_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                for address in 1...3 {
                    let network = NetworkID(trusted: "n-\(number)")
                    invent(20, introspector, in: network, from: UInt32(address), &group)
                }
            }
            try await waitUntil { backend.asked + introspector.waiting == 600 }
            #expect(backend.asked <= UserTokenIntrospector.allPermits)
            let before = backend.asked
            group.addTask { _ = try await user("late", introspector, in: "late") }
            try await waitUntil { backend.tokens.contains("late") }
            #expect(backend.asked == before + 1)
            backend.open()
            try await group.waitForAll()
        }
    }

    @Test func `tokens that one address invents take a part of the permits, and another's are asked about at once`()
        async throws
    {
        let backend = Backend(isOpen: false) { _ in .nobody }
        let introspector = introspector(backend)
        try await withThrowingTaskGroup(of: Void.self) { group in
            invent(45, introspector, from: 1, &group)
            let permits = UserTokenIntrospector.permitsPerAddress
            // Who has a permit may not have asked yet, and would do so behind the next one.
            try await waitUntil { backend.asked == permits && introspector.waiting == 45 - permits }
            group.addTask { _ = try await user("new", introspector, from: 2) }
            try await waitUntil { backend.tokens.last == "new" }
            backend.open()
            try await group.waitForAll()
        }
    }

    @Test func `who finds all permits taken waits for one, and is told to come back when none gets free`() async throws
    {
        let backend = Backend(isOpen: false) { _ in .user(UserID(trusted: "alice")) }
        let introspector = introspector(backend, patience: .milliseconds(10))
        try await withThrowingTaskGroup(of: Void.self) { group in
            invent(UserTokenIntrospector.permitsPerAddress, introspector, from: 1, &group)
            try await waitUntil { backend.asked == UserTokenIntrospector.permitsPerAddress }
            await #expect { try await user("late", introspector) } throws: { error in
                (error as? Problem)?.status == .serviceUnavailable
            }
            backend.open()
            try await group.waitForAll()
        }
        #expect(try await user("late", introspector) == UserID(trusted: "alice"))
    }

    @Test func `who was a user lately goes before strangers, by the token or by the address`() async throws {
        let backend = Backend { $0.hasPrefix("invented") ? .nobody : .user(UserID(trusted: $0)) }
        let introspector = introspector(backend)
        var settings = introspection
        settings.cacheTime = 0
        _ = try await user("alice", introspector, by: settings, from: 1)
        _ = try await user("bob", introspector, by: settings, from: 2)
        backend.close()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // From alice's address, too: all that is known of her is her token then.
            backend.open()
            _ = try await user("invented", introspector, by: settings, from: 1)
            backend.close()
            for address in [1, 3, 4] { invent(40, introspector, from: UInt32(address), &group) }
            let before = backend.asked
            try await waitUntil { backend.asked + introspector.waiting == 3 + 120 }
            group.addTask { [settings] in _ = try await user("alice", introspector, by: settings, from: 1) }
            try await waitUntil { introspector.waiting == 121 - Self.permits }
            group.addTask { [settings] in _ = try await user("bob's new", introspector, by: settings, from: 2) }
            try await waitUntil { introspector.waiting == 122 - Self.permits }
            #expect(before <= backend.asked)
            for count in 1...2 {
                backend.answerOne()
                try await waitUntil { backend.asked == 3 + Self.permits + count }
            }
            #expect(Set(backend.tokens.suffix(2)) == ["alice", "bob's new"])
            backend.open()
            try await group.waitForAll()
        }
    }

    @Test func `those who wait for the same token share one question`() async throws {
        let backend = Backend(isOpen: false) { _ in .user(UserID(trusted: "alice")) }
        let introspector = introspector(backend)
        try await withThrowingTaskGroup(of: UserID?.self) { group in
            for _ in 0..<50 { group.addTask { try await user("same", introspector) } }
            try await waitUntil { backend.asked == 1 }
            backend.open()
            for try await user in group { #expect(user == UserID(trusted: "alice")) }
        }
        #expect(backend.asked == 1)
    }

    @Test func `no answer is not remembered, nobody's for a moment, and a user's as long as is wished`() async throws {
        let backend = Backend { token in
            switch token {
            case "alice": .user(UserID(trusted: "alice"))
            case "down": .failed(reason: "timeout")
            default: .nobody
            }
        }
        let time = ManualTime(TestAPI.now)
        let introspector = introspector(backend, time: time)
        /// How often each was asked about in two requests, one after the other.
        func questions(after wait: Duration) async -> [Int] {
            var counts: [Int] = []
            for token in ["alice", "mallory", "down"] {
                let before = backend.asked
                _ = try? await user(token, introspector)
                _ = try? await user(token, introspector)
                counts.append(backend.asked - before)
            }
            time.advance(by: wait)
            return counts
        }
        #expect(await questions(after: .seconds(9)) == [1, 1, 2])
        #expect(await questions(after: .seconds(2)) == [0, 0, 2])
        #expect(await questions(after: .seconds(49)) == [0, 1, 2])
        #expect(await questions(after: .zero) == [1, 1, 2])
    }

    @Test func `changed settings are asked anew, and with no time to remember each request asks`() async throws {
        let backend = Backend { .user(UserID(trusted: $0)) }
        let introspector = introspector(backend)
        var other = introspection
        other.userIDPointer = "/sub"
        for settings in [introspection, other] {
            for _ in 0..<2 { _ = try await user("t", introspector, by: settings) }
        }
        #expect(backend.asked == 2)
        other.cacheTime = 0
        other.url = "https://b.example/"
        for _ in 0..<3 { _ = try await user("t", introspector, by: other) }
        #expect(backend.asked == 5)
    }

    @Test func `of addresses that prove nothing no token is asked about that was not a user's lately`() async throws {
        let backend = Backend { .user(UserID(trusted: $0)) }
        let introspector = introspector(backend)
        await #expect { try await user("t", introspector, isSuspect: true) } throws: { error in
            (error as? Problem)?.status == .tooManyRequests
        }
        #expect(backend.asked == 0)
        var settings = introspection
        settings.cacheTime = 0
        _ = try await user("t", introspector, by: settings)
        #expect(try await user("t", introspector, by: settings, isSuspect: true) == UserID(trusted: "t"))
        #expect(backend.asked == 2)
    }

    @Test func `what is remembered is bounded, and who has most makes room`() async throws {
        let backend = Backend { .user(UserID(trusted: $0)) }
        let introspector = introspector(backend, capacity: 25)
        _ = try await user("small", introspector, in: NetworkID(trusted: "other"))
        for number in 0..<100 {
            _ = try await user("t-\(number)", introspector)
            #expect(introspector.count <= 25)
        }
        _ = try await user("small", introspector, in: NetworkID(trusted: "other"))
        #expect(backend.asked == 101)
    }
}
