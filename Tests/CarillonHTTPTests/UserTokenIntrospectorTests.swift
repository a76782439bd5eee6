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
        private struct State {
            var asked = 0
            var isOpen: Bool
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state: Mutex<State>
        private let answer: @Sendable (String) -> UserTokenAnswer

        init(isOpen: Bool = true, _ answer: @escaping @Sendable (String) -> UserTokenAnswer) {
            state = Mutex(State(isOpen: isOpen))
            self.answer = answer
        }

        var asked: Int { state.withLock(\.asked) }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func ask(
            _ introspection: UserTokenIntrospection,
            about token: Secret,
            in network: NetworkID
        ) async -> UserTokenAnswer {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    state.asked += 1
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
            return token.reveal(answer)
        }
    }

    private func introspector(
        _ backend: Backend,
        ownCapacity: Int = 100,
        capacity: Int = 100,
        time: ManualTime = ManualTime()
    ) -> UserTokenIntrospector {
        UserTokenIntrospector(
            asker: backend,
            metrics: NOOPMetricsHandler.instance,
            ownCapacity: ownCapacity,
            capacity: capacity,
            now: time.monotonic
        )
    }

    private func user(
        _ token: String,
        _ introspector: UserTokenIntrospector,
        by introspection: UserTokenIntrospection? = nil,
        in network: NetworkID = NetworkID(trusted: "acme"),
        isSuspect: Bool = false
    ) async throws -> UserID? {
        try await introspector.user(
            of: token,
            by: introspection ?? self.introspection,
            in: network,
            isSuspect: isSuspect
        )
    }

    @Test func `a server that hangs takes a network's places, and no other network's`() async throws {
        let backend = Backend(isOpen: false) { _ in .nobody }
        let introspector = introspector(backend)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<UserTokenIntrospector.places {
                group.addTask { _ = try await user("t-\(number)", introspector) }
            }
            try await waitUntil { backend.asked == UserTokenIntrospector.places }
            await #expect { try await user("one more", introspector) } throws: { error in
                (error as? Problem)?.status == .serviceUnavailable
            }
            group.addTask { _ = try await user("t", introspector, in: NetworkID(trusted: "other")) }
            try await waitUntil { backend.asked == UserTokenIntrospector.places + 1 }
            backend.open()
            try await group.waitForAll()
        }
        #expect(try await user("one more", introspector) == nil)
    }

    @Test func `all networks together have so many places`() async throws {
        let backend = Backend(isOpen: false) { _ in .nobody }
        let introspector = introspector(backend, capacity: 1_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<UserTokenIntrospector.allPlaces {
                let network = NetworkID(trusted: "n-\(number / UserTokenIntrospector.places)")
                group.addTask { _ = try await user("t-\(number)", introspector, in: network) }
            }
            try await waitUntil { backend.asked == UserTokenIntrospector.allPlaces }
            await #expect(throws: Problem.self) { try await user("one more", introspector) }
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
        let time = ManualTime()
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

    @Test func `of addresses that prove nothing no token is asked about that is not known`() async throws {
        let backend = Backend { .user(UserID(trusted: $0)) }
        let introspector = introspector(backend)
        await #expect { try await user("t", introspector, isSuspect: true) } throws: { error in
            (error as? Problem)?.status == .tooManyRequests
        }
        #expect(backend.asked == 0)
        _ = try await user("t", introspector)
        #expect(try await user("t", introspector, isSuspect: true) == UserID(trusted: "t"))
    }

    @Test func `what is remembered is bounded for each network and for all`() async throws {
        let backend = Backend { .user(UserID(trusted: $0)) }
        let introspector = introspector(backend, ownCapacity: 10, capacity: 25)
        for number in 0..<100 {
            let network = NetworkID(trusted: "n-\(number % 5)")
            _ = try await user("t-\(number)", introspector, in: network)
            #expect(introspector.count <= 25)
        }
        #expect(introspector.count > 0)
    }
}
