import CarillonCore
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import CarillonProviders

@Suite struct OpenConnectionsTests {
    private let loop = EmbeddedEventLoop()

    private static func origin(_ host: String) throws -> Origin { Origin(try OutboundURL("http://\(host).test/")) }

    /// Asks for a place.
    private func place(
        in connections: OpenConnections,
        to host: String = "a",
        for time: TimeAmount = .seconds(10)
    ) throws -> Answer {
        let answer = Answer()
        let place = connections.place(for: try Self.origin(host), on: loop, until: loop.now + time)
        place.whenComplete { answer.set($0) }
        return answer
    }

    private final class Answer: Sendable {
        private let result = Mutex<Result<OpenConnections.Turn, any Error>?>(nil)

        func set(_ value: Result<OpenConnections.Turn, any Error>) { result.withLock { $0 = value } }
        var isGranted: Bool { result.withLock { if case .success(.place) = $0 { true } else { false } } }
        var connection: HTTPConnection? {
            result.withLock { if case .success(.connection(let connection)) = $0 { connection } else { nil } }
        }
        var isPending: Bool { result.withLock { $0 == nil } }
        var error: OutboundError? {
            result.withLock { if case .failure(let error) = $0 { error as? OutboundError } else { nil } }
        }
    }

    private func open(in connections: OpenConnections, to host: String = "a") throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        connections.opened(channel, to: try Self.origin(host))
        return channel
    }

    /// A connection in a place that it has got.
    private func connect(in connections: OpenConnections, to host: String = "a") throws -> HTTPConnection {
        #expect(try place(in: connections, to: host).isGranted)
        return try HTTPConnection.configure(try open(in: connections, to: host), for: try Self.origin(host))
    }

    @Test func `who is one too many waits until a connection has closed`() throws {
        let connections = OpenConnections(maximum: 2, maximumPerHost: 2)
        #expect(try place(in: connections).isGranted)
        #expect(try place(in: connections).isGranted)
        let first = try open(in: connections)
        let third = try place(in: connections)
        let fourth = try place(in: connections)
        #expect(third.isPending)
        _ = try first.finish()
        #expect(third.isGranted)
        #expect(fourth.isPending)
        try connections.notOpened(to: Self.origin("a"))
        #expect(fourth.isGranted)
        #expect(connections.count == 2)
    }

    @Test func `nobody waits beyond the deadline, and who has given up is passed over`() throws {
        let connections = OpenConnections(maximum: 1, maximumPerHost: 1)
        _ = try place(in: connections)
        let impatient = try place(in: connections, for: .seconds(1))
        let patient = try place(in: connections, for: .seconds(3))
        loop.advanceTime(by: .seconds(1))
        #expect(impatient.error == .timedOut)
        #expect(patient.isPending)
        try connections.notOpened(to: Self.origin("a"))
        #expect(patient.isGranted)
        loop.advanceTime(by: .seconds(10))
        try connections.notOpened(to: Self.origin("a"))
        #expect(connections.count == 0)
    }

    @Test func `the connection that is without requests for longest makes room`() throws {
        let connections = OpenConnections(maximum: 3, maximumPerHost: 3)
        for _ in 0..<3 { _ = try place(in: connections) }
        let channels = try (0..<3).map { _ in try open(in: connections) }
        let retired = Mutex<[Int]>([])
        for number in [1, 0, 2, 1] {
            let spare = SpareConnection(retire: {
                retired.withLock { $0.append(number) }
                return true
            })
            connections.isIdle(channels[number], spare)
        }
        let waiting = try place(in: connections, to: "b")
        #expect(retired.withLock { $0 } == [0])
        #expect(waiting.isPending, "it has not closed yet")
        _ = try channels[0].finish()
        #expect(waiting.isGranted)
    }

    @Test func `what is needed again by now is passed over, and the next one makes room when it is done`() throws {
        let connections = OpenConnections(maximum: 2, maximumPerHost: 2)
        for _ in 0..<2 { _ = try place(in: connections) }
        let channels = try (0..<2).map { _ in try open(in: connections) }
        let asked = Mutex<[Int]>([])
        for number in 0..<2 {
            let spare = SpareConnection(retire: {
                asked.withLock { $0.append(number) }
                return false
            })
            connections.isIdle(channels[number], spare)
        }
        let waiting = try place(in: connections, to: "b")
        #expect(asked.withLock { $0 } == [0, 1])
        let spare = SpareConnection(retire: {
            asked.withLock { $0.append(2) }
            return true
        })
        connections.isIdle(channels[0], spare)
        #expect(asked.withLock { $0 } == [0, 1, 2])
        #expect(waiting.isPending)
    }

    @Test func `a connection that has closed is not asked to`() throws {
        let connections = OpenConnections(maximum: 1, maximumPerHost: 1)
        _ = try place(in: connections)
        let channel = try open(in: connections)
        _ = try channel.finish()
        let spare = SpareConnection(retire: {
            Issue.record("has closed")
            return true
        })
        connections.isIdle(channel, spare)
        #expect(try place(in: connections).isGranted)
        #expect(try place(in: connections).isPending)
    }

    @Test func `a host has no more than its places, and those behind it in line do not wait for it`() throws {
        let connections = OpenConnections(maximum: 10, maximumPerHost: 2)
        for _ in 0..<2 { #expect(try place(in: connections).isGranted) }
        let silent = try (0..<5).map { _ in try place(in: connections) }
        #expect(silent.map(\.isPending) == Array(repeating: true, count: 5))
        #expect(try place(in: connections, to: "b").isGranted)
        try connections.notOpened(to: Self.origin("b"))
        #expect(silent.map(\.isPending) == Array(repeating: true, count: 5))
        try connections.notOpened(to: Self.origin("a"))
        #expect(silent.map(\.isGranted) == [true, false, false, false, false])
        #expect(connections.count == 2)
    }

    @Test func `hosts have their turns one after the other, however many wait for each`() throws {
        let connections = OpenConnections(maximum: 1, maximumPerHost: 1)
        _ = try place(in: connections, to: "z")
        let many = try (0..<3).map { _ in try place(in: connections, to: "a") }
        let few = try place(in: connections, to: "b")
        let gone = try place(in: connections, to: "c", for: .seconds(1))
        loop.advanceTime(by: .seconds(1))
        #expect(gone.error == .timedOut)
        var granted: [[Bool]] = []
        for host in ["z", "a", "b", "a"] {
            try connections.notOpened(to: Self.origin(host))
            granted.append((many + [few]).map(\.isGranted))
        }
        #expect(
            granted == [
                [true, false, false, false], [true, false, false, true], [true, true, false, true],
                [true, true, true, true],
            ]
        )
        try connections.notOpened(to: Self.origin("a"))
        #expect(connections.count == 0)
    }

    @Test func `a connection that has become free is for the next one in line for its host`() throws {
        let connections = OpenConnections(maximum: 4, maximumPerHost: 1)
        let connection = try connect(in: connections)
        #expect(!connections.handOver(connection))
        let second = try place(in: connections)
        let third = try place(in: connections)
        #expect(connections.handOver(connection))
        #expect(second.connection === connection)
        #expect(third.isPending)
        #expect(connections.waiting == 1)
        #expect(connections.count == 1)
    }

    @Test func `a connection that became free just before somebody came in line is found`() throws {
        let connections = OpenConnections(maximum: 1, maximumPerHost: 1)
        let connection = try connect(in: connections)
        let spare = SpareConnection {
            connection
        } retire: {
            Issue.record("is needed")
            return false
        }
        connections.isIdle(connection.channel, spare)
        #expect(try place(in: connections).connection === connection)
    }

    @Test func `a host that has more than its share leaves a connection to one that has none`() throws {
        let connections = OpenConnections(maximum: 2, maximumPerHost: 2)
        let mine = try (0..<2).map { _ in try connect(in: connections) }
        let next = try place(in: connections)
        let other = try place(in: connections, to: "b")
        #expect(!connections.handOver(mine[0]))
        let spare = SpareConnection {
            Issue.record("is not for its own host")
            return nil
        } retire: {
            mine[0].close()
            return true
        }
        connections.isIdle(mine[0].channel, spare)
        loop.run()
        #expect(other.isGranted)
        #expect(next.isPending)
        #expect(connections.handOver(mine[1]), "each has one now")
        #expect(next.connection === mine[1])
    }
}
