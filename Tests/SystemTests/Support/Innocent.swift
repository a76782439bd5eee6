import AsyncHTTPClient
import CarillonCore
import NIOHTTP1
import Testing

/// A network that does nothing wrong, and whose people want their notifications in time.
struct Innocent: Sendable {
    /// What it noticed in a while.
    struct Notice: Sendable {
        /// The slowest of the requests but one in twenty.
        let accepting: Duration
        /// The slowest of the deliveries but one in twenty: from the 202 until the device had it.
        let delivery: Duration
    }

    private static let interval = Duration.milliseconds(100)
    private static let patience = Duration.seconds(60)

    private let network: TestNetwork
    private let hosts: WebhookHosts
    private let keepsConnections: Bool

    /// Makes the network on a service: one channel with one webhook.
    ///
    /// Without `keepsConnections` every request comes over a connection of its own: where places are scarce, an idle one is
    /// closed at any time, and a client that was about to use it has to try again.
    init(
        on service: RunningService,
        hosts: WebhookHosts,
        port: Int,
        path: String = "prompt",
        keepsConnections: Bool = true
    ) async throws {
        network = try await TestNetwork("innocent", on: service)
        self.hosts = hosts
        self.keepsConnections = keepsConnections
        let url: JSONValue = .string("http://127.0.0.1:\(port)/\(path)")
        try await network.send(.PUT, "/devices/hook", ["userId": "bob", "provider": "webhook", "url": url])
        let event = try await network.accept(TestEvents.channelCreated("channel", members: ["bob"]))
        try await eventually("the first notification") { hosts.arrival(of: event) != nil }
    }

    /// Posts messages at a steady rate, whatever the answers do, and waits until all have arrived.
    ///
    /// Every request must be accepted, and everything must arrive.
    ///
    /// - Parameters:
    ///   - run: What the events' ids begin with.
    ///   - count: How many messages.
    /// - Returns: How long it took.
    /// - Throws: When something is refused or does not arrive.
    func notice(_ run: String, count: Int = 20) async throws -> Notice {
        let start = ContinuousClock.now
        let posts = try await withThrowingTaskGroup(of: Post.self) { group in
            for number in 0..<count {
                try await Task.sleep(until: start + Self.interval * number)
                group.addTask {
                    try await post("\(run)-\(number)", isNew: !keepsConnections || number.isMultiple(of: 2))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let events = posts.map(\.event)
        try await eventually(within: Self.patience, "delivery of what was accepted") {
            events.allSatisfy { hosts.arrival(of: $0) != nil }
        }
        let deliveries = posts.map { max(.zero, (hosts.arrival(of: $0.event) ?? .now) - $0.acceptedAt) }
        return Notice(accepting: Self.slowest(posts.map(\.took)), delivery: Self.slowest(deliveries))
    }

    private struct Post: Sendable {
        let event: String
        let took: Duration
        let acceptedAt: ContinuousClock.Instant
    }

    /// Every second request comes over a connection of its own, as from people who come for the first time.
    private func post(_ id: String, isNew: Bool) async throws -> Post {
        let start = ContinuousClock.now
        let answer: TestClient.Answer
        do {
            answer = try await send(id, isNew: isNew)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed && !keepsConnections {
            // On a machine so busy that a request comes later than hundreds of strangers do, its place is gone by then.
            answer = try await send(id, isNew: isNew)
        }
        try #require(answer.status == 202, "\(answer.status) \(answer.text)")
        return Post(event: try #require(answer.json["id"]?.text), took: .now - start, acceptedAt: .now)
    }

    private func send(_ id: String, isNew: Bool) async throws -> TestClient.Answer {
        try await network.client.send(
            .POST,
            "/v1/networks/\(network.id)/events",
            token: network.adminKey,
            headers: isNew ? ["connection": "close"] : [:],
            body: TestEvents.messageSent(id).serialized
        )
    }

    private static func slowest(_ durations: [Duration]) -> Duration {
        let sorted = durations.sorted()
        return sorted[max(0, sorted.count - 1 - sorted.count / 20)]
    }
}

/// Expects of what an innocent network noticed beside a neighbour that it is about what it noticed in quiet, and says both.
///
/// Three times quiet is what is promised; the seconds are for machines that are slow or busy: what neighbours did to others
/// before took tens of seconds or never ended. `Benchmarks/run neighbours` measures more closely.
func expectUndisturbed(
    beside neighbour: String,
    _ loaded: Innocent.Notice,
    quiet: Innocent.Notice,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    print(
        """
        beside \(neighbour): accepting \(quiet.accepting.inMilliseconds) → \(loaded.accepting.inMilliseconds), \
        delivery \(quiet.delivery.inMilliseconds) → \(loaded.delivery.inMilliseconds)
        """
    )
    let limit = (accepting: quiet.accepting * 3 + .seconds(3), delivery: quiet.delivery * 3 + .seconds(3))
    #expect(loaded.accepting <= limit.accepting, sourceLocation: sourceLocation)
    #expect(loaded.delivery <= limit.delivery, sourceLocation: sourceLocation)
}

extension Duration {
    /// For people.
    var inMilliseconds: String { "\(Int(self / .milliseconds(1))) ms" }
}

/// Lets a neighbour misbehave while `body` runs.
func beside<Value: Sendable>(
    _ neighbour: @escaping @Sendable () async throws -> Void,
    _ body: () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await neighbour() }
        defer { group.cancelAll() }
        return try await body()
    }
}
