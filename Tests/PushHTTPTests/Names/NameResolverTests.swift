import CarillonCore
import CarillonTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import PushHTTP

@Suite(.timeLimit(.minutes(1))) struct NameResolverTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let acme = NetworkID(trusted: "acme")
    private let other = NetworkID(trusted: "other")
    private let lookups = HeldLookups()

    /// Look-ups that end when they are told to.
    private final class HeldLookups: Sendable {
        private let asked = Mutex<[String]>([])
        private let gate = Gate()

        var names: [String] { asked.withLock { $0 } }

        func look(up name: String) async -> [IPAddress] {
            asked.withLock { $0.append(name) }
            if name.hasPrefix("slow") { await gate.wait() }
            return [.v4(1)]
        }

        func release() { gate.knock() }
    }

    private func resolver(_ lookups: HeldLookups, _ change: (inout NameResolver.Limits) -> Void = { _ in })
        -> NameResolver
    {
        var limits = NameResolver.Limits()
        limits.time = .seconds(50)
        change(&limits)
        return NameResolver(limits: limits) { await lookups.look(up: $0) }
    }

    @Test func `looks a name up once for all of a network who ask at the same time`() async throws {
        let resolver = resolver(lookups)
        let answers = (0..<10).map { _ in resolver.addresses(of: "slow", for: acme, on: loop) }
        try await waitUntil { lookups.names.count == 1 }
        lookups.release()
        for answer in answers { #expect(try await answer.get() == [.v4(1)]) }
        #expect(lookups.names == ["slow"])
        #expect(try await resolver.addresses(of: "slow", for: acme, on: loop).get() == [.v4(1)])
        #expect(lookups.names == ["slow", "slow"], "addresses are not remembered")
    }

    @Test func `leaves places to other networks however many names one waits for`() async throws {
        let resolver = resolver(lookups) { $0.slots = 10 }
        let slow = (0..<100).map { resolver.addresses(of: "slow\($0)", for: acme, on: loop) }
        try await waitUntil { resolver.running == 8 && resolver.waiting == 92 }
        for number in 0..<20 {
            let found = resolver.addresses(of: "quick\(number)", for: other, on: loop)
            #expect(try await found.get() == [.v4(1)])
        }
        lookups.release()
        for answer in slow { #expect(try await answer.get() == [.v4(1)]) }
        try await waitUntil { resolver.running == 0 }
    }

    @Test func `refuses at once who would be one too many in line, of one network before others`() async throws {
        let resolver = resolver(lookups) {
            $0.slots = 1
            $0.waiting = 10
        }
        let slow = (0..<20).map { resolver.addresses(of: "slow\($0)", for: acme, on: loop) }
        try await waitUntil { resolver.running == 1 && resolver.waiting == 8 }
        let late = resolver.addresses(of: "quick", for: other, on: loop)
        try await waitUntil { resolver.waiting == 9 }
        lookups.release()
        #expect(try await late.get() == [.v4(1)])
        var refused = 0
        for answer in slow {
            do { _ = try await answer.get() } catch OutboundError.busy { refused += 1 }
        }
        #expect(refused == 11, "one under way and eight in line")
    }

    @Test func `gives up when the time is over, and has the place for another one`() async throws {
        let resolver = resolver(lookups) {
            $0.slots = 1
            $0.time = .milliseconds(100)
        }
        await #expect(throws: OutboundError.lookupFailed) {
            try await resolver.addresses(of: "slow", for: acme, on: loop).get()
        }
        #expect(try await resolver.addresses(of: "quick", for: acme, on: loop).get() == [.v4(1)])
        lookups.release()
    }

    @Test func `does not ask again for a while for what could not be found, whoever wants it`() async throws {
        let count = Atomic(0)
        let resolver = NameResolver { _ in
            count.wrappingAdd(1, ordering: .relaxed)
            throw OutboundError.nameNotFound
        }
        for network in [acme, acme, other, nil] {
            await #expect(throws: OutboundError.nameNotFound) {
                try await resolver.addresses(of: "gone", for: network, on: loop).get()
            }
        }
        #expect(count.load(ordering: .relaxed) == 1)
    }

    @Test func `asks again for what could not be found once that is long ago`() async throws {
        let count = Atomic(0)
        var limits = NameResolver.Limits()
        limits.failureMemory = .milliseconds(50)
        let resolver = NameResolver(limits: limits) { _ in
            count.wrappingAdd(1, ordering: .relaxed)
            throw OutboundError.nameNotFound
        }
        while count.load(ordering: .relaxed) < 2 {
            await #expect(throws: OutboundError.nameNotFound) {
                try await resolver.addresses(of: "gone", for: nil, on: loop).get()
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func `asks again at once when it was not the name's fault`() async throws {
        let count = Atomic(0)
        let resolver = NameResolver { _ in
            guard count.wrappingAdd(1, ordering: .relaxed).oldValue > 0 else { throw OutboundError.busy }
            return [.v4(1)]
        }
        await #expect(throws: OutboundError.busy) {
            try await resolver.addresses(of: "hook", for: acme, on: loop).get()
        }
        #expect(try await resolver.addresses(of: "hook", for: acme, on: loop).get() == [.v4(1)])
    }

    @Test func `finds this machine's own names`() async throws {
        let found = try await NameResolver().addresses(of: "localhost", for: nil, on: loop).get()
        #expect(!found.isEmpty)
    }
}
