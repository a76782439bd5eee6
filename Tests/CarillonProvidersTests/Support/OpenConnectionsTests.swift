import CarillonCore
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import CarillonProviders

@Suite struct OpenConnectionsTests {
    private let loop = EmbeddedEventLoop()

    /// Asks for a place.
    private func place(in connections: OpenConnections, for time: TimeAmount = .seconds(10)) -> Answer {
        let answer = Answer()
        connections.place(on: loop, until: loop.now + time).whenComplete { answer.set($0) }
        return answer
    }

    private final class Answer: Sendable {
        private let result = Mutex<Result<Void, any Error>?>(nil)

        func set(_ value: Result<Void, any Error>) { result.withLock { $0 = value } }
        var isGranted: Bool { result.withLock { if case .success = $0 { true } else { false } } }
        var isPending: Bool { result.withLock { $0 == nil } }
        var error: OutboundError? {
            result.withLock { if case .failure(let error) = $0 { error as? OutboundError } else { nil } }
        }
    }

    private func open(in connections: OpenConnections) -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        connections.opened(channel)
        return channel
    }

    @Test func `who is one too many waits until a connection has closed`() throws {
        let connections = OpenConnections(maximum: 2)
        #expect(place(in: connections).isGranted)
        #expect(place(in: connections).isGranted)
        let first = open(in: connections)
        let third = place(in: connections)
        let fourth = place(in: connections)
        #expect(third.isPending)
        _ = try first.finish()
        #expect(third.isGranted)
        #expect(fourth.isPending)
        connections.notOpened()
        #expect(fourth.isGranted)
        #expect(connections.count == 2)
    }

    @Test func `nobody waits beyond the deadline, and who has given up is passed over`() throws {
        let connections = OpenConnections(maximum: 1)
        _ = place(in: connections)
        let impatient = place(in: connections, for: .seconds(1))
        let patient = place(in: connections, for: .seconds(3))
        loop.advanceTime(by: .seconds(1))
        #expect(impatient.error == .timedOut)
        #expect(patient.isPending)
        connections.notOpened()
        #expect(patient.isGranted)
        loop.advanceTime(by: .seconds(10))
        connections.notOpened()
        #expect(connections.count == 0)
    }

    @Test func `the connection that is without requests for longest makes room`() throws {
        let connections = OpenConnections(maximum: 3)
        for _ in 0..<3 { _ = place(in: connections) }
        let channels = (0..<3).map { _ in open(in: connections) }
        let retired = Mutex<[Int]>([])
        for number in [1, 0, 2, 1] {
            connections.isIdle(channels[number]) {
                retired.withLock { $0.append(number) }
                return true
            }
        }
        let waiting = place(in: connections)
        #expect(retired.withLock { $0 } == [0])
        #expect(waiting.isPending, "it has not closed yet")
        _ = try channels[0].finish()
        #expect(waiting.isGranted)
    }

    @Test func `what is needed again by now is passed over, and the next one makes room when it is done`() {
        let connections = OpenConnections(maximum: 2)
        for _ in 0..<2 { _ = place(in: connections) }
        let channels = (0..<2).map { _ in open(in: connections) }
        let asked = Mutex<[Int]>([])
        for number in 0..<2 {
            connections.isIdle(channels[number]) {
                asked.withLock { $0.append(number) }
                return false
            }
        }
        let waiting = place(in: connections)
        #expect(asked.withLock { $0 } == [0, 1])
        connections.isIdle(channels[0]) {
            asked.withLock { $0.append(2) }
            return true
        }
        #expect(asked.withLock { $0 } == [0, 1, 2])
        #expect(waiting.isPending)
    }

    @Test func `a connection that has closed is not asked to`() throws {
        let connections = OpenConnections(maximum: 1)
        _ = place(in: connections)
        let channel = open(in: connections)
        _ = try channel.finish()
        connections.isIdle(channel) {
            Issue.record("has closed")
            return true
        }
        #expect(place(in: connections).isGranted)
        #expect(place(in: connections).isPending)
    }
}
