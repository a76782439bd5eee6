import CarillonCore
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import PushHTTP

@Suite struct OpenConnectionsTests {
    private let loop = EmbeddedEventLoop()

    private static func origin(_ host: String, of network: String? = nil) throws -> Origin {
        Origin(try OutboundURL("http://\(host).test/"), of: network.map { NetworkID(trusted: $0) })
    }

    /// Asks for a slot.
    private func slot(
        in connections: OpenConnections,
        to host: String = "a",
        of network: String? = nil,
        lane: Lane? = nil,
        for time: TimeAmount = .seconds(10)
    ) throws -> Answer {
        let answer = Answer()
        let origin = try Self.origin(host, of: network)
        switch connections.claim(for: origin, of: lane, on: loop, until: loop.now + time) {
        case .granted(let slot): answer.set(.success(slot))
        case .awaited(let slot): slot.whenComplete { answer.set($0) }
        }
        return answer
    }

    private final class Answer: Sendable {
        private let result = Mutex<Result<OpenConnections.Slot, any Error>?>(nil)

        func set(_ value: Result<OpenConnections.Slot, any Error>) { result.withLock { $0 = value } }
        var slot: OpenConnections.Slot? { result.withLock { try? $0?.get() } }
        var isGranted: Bool { slot != nil }
        var isPending: Bool { result.withLock { $0 == nil } }
        var error: OutboundError? {
            result.withLock { if case .failure(let error) = $0 { error as? OutboundError } else { nil } }
        }
        func giveBack() { slot?.giveBack() }
    }

    /// A connection that keeps its slot.
    private func connect(
        in connections: OpenConnections,
        to host: String = "a",
        of network: String? = nil
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        connections.keep(try #require(try slot(in: connections, to: host, of: network).slot), for: channel)
        return channel
    }

    @Test func `who is one too many waits until a slot is given back, once`() throws {
        let connections = OpenConnections(maximum: 100, maximumPerHost: 2)
        let (first, second) = (try slot(in: connections), try slot(in: connections))
        #expect(first.isGranted && second.isGranted)
        let (third, fourth) = (try slot(in: connections), try slot(in: connections))
        first.giveBack()
        first.giveBack()
        #expect(third.isGranted)
        #expect(fourth.isPending)
        second.giveBack()
        #expect(fourth.isGranted)
        #expect(connections.count == 2)
    }

    @Test func `a slot that nobody holds any more is free`() throws {
        let connections = OpenConnections(maximum: 1, maximumPerHost: 1)
        do { #expect(try slot(in: connections).isGranted) }
        #expect(connections.count == 0)
        #expect(try slot(in: connections).isGranted)
    }

    @Test func `nobody waits beyond the deadline, and it is said whose fault that was`() throws {
        let connections = OpenConnections(maximum: 1, maximumPerHost: 1)
        let first = try slot(in: connections)
        let own = try slot(in: connections, for: .seconds(1))
        let others = try slot(in: connections, to: "b", for: .seconds(1))
        let patient = try slot(in: connections, for: .seconds(3))
        loop.advanceTime(by: .seconds(1))
        #expect(own.error == .timedOut, "its own host does not answer")
        #expect(others.error == .busy)
        #expect(patient.isPending)
        first.giveBack()
        #expect(patient.isGranted)
        loop.advanceTime(by: .seconds(10))
        patient.giveBack()
        #expect(connections.count == 0)
    }

    @Test func `that others have all slots of the same host is no fault of it`() throws {
        let connections = OpenConnections(maximum: 100, maximumPerHost: 2)
        let lanes = ["log", "check"].map { Lane(networkID: NetworkID(trusted: "acme"), provider: .relay, appID: $0) }
        let first = try slot(in: connections, of: "acme", lane: lanes[0])
        let second = try slot(in: connections, of: "acme", lane: lanes[0])
        let own = try slot(in: connections, of: "acme", lane: lanes[0], for: .seconds(1))
        let others = try slot(in: connections, of: "acme", lane: lanes[1], for: .seconds(1))
        loop.advanceTime(by: .seconds(1))
        #expect(own.error == .timedOut && others.error == .busy)
        first.giveBack()
        let late = try slot(in: connections, of: "acme", lane: lanes[1])
        let later = try slot(in: connections, of: "acme", lane: lanes[1], for: .seconds(1))
        loop.advanceTime(by: .seconds(1))
        #expect(late.isGranted && later.error == .timedOut, "it has one that is not answered")
        late.giveBack()
        second.giveBack()
        #expect(connections.count == 0)
        let shared = try [slot(in: connections, of: "acme"), slot(in: connections, of: "acme")]
        let sharing = try slot(in: connections, of: "acme", lane: lanes[1], for: .seconds(1))
        loop.advanceTime(by: .seconds(1))
        #expect(sharing.error == .timedOut, "what all share is not answered")
        for slot in shared { slot.giveBack() }
    }

    @Test func `one network never has all slots, and two have as many as each other`() throws {
        let connections = OpenConnections(maximum: 100, maximumPerHost: 100)
        let greedy = try (0..<200).map { try slot(in: connections, to: "h\($0)", of: "greedy") }
        #expect(greedy.count(where: \.isGranted) == 80)
        let modest = try (0..<10).map { try slot(in: connections, to: "h\($0)", of: "modest") }
        #expect(modest.count(where: \.isGranted) == 10)
        // What the greedy one gives back goes to the other, until they have as much as each other.
        let other = try (0..<200).map { try slot(in: connections, to: "h\($0)", of: "other") }
        for slot in greedy { slot.giveBack() }
        let (own, others) = (greedy.count(where: \.isGranted), other.count(where: \.isGranted))
        #expect(own > 80)
        #expect(others >= 30)
    }

    @Test func `many requests for one host of a network hold up neither another network there nor its own other hosts`()
        throws
    {
        let connections = OpenConnections(maximum: 512, maximumPerHost: 64)
        let silent = try (0..<400).map { _ in try slot(in: connections, to: "shared", of: "a") }
        #expect(silent.count(where: \.isGranted) == 64)
        #expect(try slot(in: connections, to: "shared", of: "b").isGranted)
        #expect(try slot(in: connections, to: "else", of: "a").isGranted)
    }

    @Test func `refuses at once when too many wait`() throws {
        let connections = OpenConnections(maximum: 1, maximumPerHost: 1, maximumWaiting: 10)
        let first = try slot(in: connections)
        let rest = try (0..<20).map { _ in try slot(in: connections) }
        #expect(rest.count { $0.error == .busy } == 12)
        #expect(try slot(in: connections, of: "other").isPending, "there is a share left for others")
        first.giveBack()
    }

    @Test func `a connection without requests makes room, the network's own that was used longest ago first`() throws {
        let connections = OpenConnections(maximum: 4, maximumPerHost: 4)
        let channels = try [("a", "x"), ("b", "y"), ("c", "x")].map { try connect(in: connections, to: $0, of: $1) }
        let retired = Mutex<[Int]>([])
        for number in [1, 2, 0] {
            connections.isIdle(channels[number]) {
                retired.withLock { $0.append(number) }
                return true
            }
        }
        #expect(try slot(in: connections, to: "d", of: "x").isPending)
        #expect(retired.withLock { $0 } == [2])
        _ = try channels[2].finish()
    }

    @Test func `no connection is ended for somebody who could not go nevertheless`() throws {
        let connections = OpenConnections(maximum: 10, maximumPerHost: 1)
        let idle = try connect(in: connections, to: "idle", of: "x")
        let isRetired = Atomic(false)
        connections.isIdle(idle) {
            isRetired.store(true, ordering: .relaxed)
            return true
        }
        let first = try slot(in: connections, to: "a", of: "x")
        #expect(try slot(in: connections, to: "a", of: "x").isPending, "its host has as many as it may")
        #expect(isRetired.load(ordering: .relaxed) == false)
        first.giveBack()
        _ = try idle.finish()
    }

    @Test func `what is needed again by now is passed over, and the next one makes room`() throws {
        let connections = OpenConnections(maximum: 3, maximumPerHost: 3)
        let channels = try (0..<2).map { try connect(in: connections, to: "\($0)") }
        let asked = Mutex<[Int]>([])
        for number in 0..<2 {
            connections.isIdle(channels[number]) {
                asked.withLock { $0.append(number) }
                return number == 1
            }
        }
        let waiting = try slot(in: connections, to: "b")
        #expect(asked.withLock { $0 } == [0, 1])
        #expect(waiting.isPending, "it has not closed yet")
        _ = try channels[1].finish()
        #expect(waiting.isGranted)
        _ = try channels[0].finish()
    }

    @Test func `a connection that has closed is not asked to`() throws {
        let connections = OpenConnections(maximum: 1, maximumPerHost: 1)
        let channel = try connect(in: connections)
        let isAsked = Atomic(false)
        _ = try channel.finish()
        connections.isIdle(channel) {
            isAsked.store(true, ordering: .relaxed)
            return true
        }
        let first = try slot(in: connections)
        _ = try slot(in: connections, to: "b")
        #expect(isAsked.load(ordering: .relaxed) == false)
        first.giveBack()
    }
}
