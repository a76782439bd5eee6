import AsyncHTTPClient
import CarillonCore
import NIOHTTP1
import Testing

/// A network that does nothing wrong, and whose people want their notifications in time.
///
/// What it notices depends on the machine, too. So does what another such network notices in the same minutes, on a service
/// of its own where nobody misbehaves: the control.
struct Innocent: Sendable {
    /// What a network noticed in a while.
    struct Figures: Sendable {
        /// The slowest of the requests but one in twenty.
        let accepting: Duration
        /// The slowest of the deliveries but one in twenty: from the 202 until the device had it.
        let delivery: Duration
    }

    /// What the innocent network and the control noticed in the same while.
    struct Notice: Sendable {
        let innocent: Figures
        let control: Figures
    }

    private static let interval = Duration.milliseconds(100)
    private static let patience = Duration.seconds(120)

    private let network: TestNetwork
    private let control: Control
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
        control = try await Control()
        self.hosts = hosts
        self.keepsConnections = keepsConnections
        for network in [network, control.network] {
            let url: JSONValue = .string("http://127.0.0.1:\(port)/\(path)")
            try await network.send(.PUT, "/devices/hook", ["userId": "bob", "provider": "webhook", "url": url])
            let event = try await network.accept(TestEvents.channelCreated("channel", members: ["bob"]))
            try await eventually("the first notification") { hosts.arrival(of: event) != nil }
        }
    }

    /// Posts messages at a steady rate, whatever the answers do, and waits until all have arrived.
    ///
    /// Every request must be accepted in the end, and everything must arrive.
    ///
    /// - Parameters:
    ///   - run: What the events' ids begin with.
    ///   - count: How many messages.
    /// - Returns: How long it took.
    /// - Throws: When something is refused or does not arrive.
    func notice(_ run: String, count: Int = 20) async throws -> Notice {
        async let innocent = figures(of: network, run, count: count)
        async let control = figures(of: control.network, run, count: count)
        return Notice(innocent: try await innocent, control: try await control)
    }

    private func figures(of network: TestNetwork, _ run: String, count: Int) async throws -> Figures {
        let start = ContinuousClock.now
        let posts = try await withThrowingTaskGroup(of: Post.self) { group in
            for number in 0..<count {
                try await Task.sleep(until: start + Self.interval * number)
                group.addTask {
                    let isNew = !keepsConnections || number.isMultiple(of: 2)
                    return try await post("\(run)-\(number)", to: network, isNew: isNew)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let events = posts.map(\.event)
        try await eventually(within: Self.patience, "delivery of what was accepted") {
            events.allSatisfy { hosts.arrival(of: $0) != nil }
        }
        let deliveries = posts.map { max(.zero, (hosts.arrival(of: $0.event) ?? .now) - $0.acceptedAt) }
        return Figures(accepting: Self.slowest(posts.map(\.took)), delivery: Self.slowest(deliveries))
    }

    private struct Post: Sendable {
        let event: String
        let took: Duration
        let acceptedAt: ContinuousClock.Instant
    }

    /// Every second request comes over a connection of its own, as from people who come for the first time.
    private func post(_ id: String, to network: TestNetwork, isNew: Bool) async throws -> Post {
        let start = ContinuousClock.now
        var answer: TestClient.Answer
        do {
            answer = try await send(id, to: network, isNew: isNew)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed && !keepsConnections {
            // On a machine so busy that a request comes later than hundreds of strangers do, its place is gone by then.
            answer = try await send(id, to: network, isNew: isNew)
        }
        // What a busy machine cannot take in time, senders post again; how long it took then is judged.
        while answer.status == 503, .now - start < Self.patience {
            try await Task.sleep(for: Self.interval)
            answer = try await send(id, to: network, isNew: isNew)
        }
        try #require(answer.status == 202, "\(answer.status) \(answer.text)")
        return Post(event: try #require(answer.json["id"]?.text), took: .now - start, acceptedAt: .now)
    }

    private func send(_ id: String, to network: TestNetwork, isNew: Bool) async throws -> TestClient.Answer {
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

/// A network on a service where nobody misbehaves. Both end with it.
private final class Control: Sendable {
    let network: TestNetwork
    private let scratch: Scratch
    private let service: RunningService

    init() async throws {
        scratch = Scratch()
        service = try await RunningService.start(in: scratch)
        network = try await TestNetwork("control", on: service)
    }

    deinit {
        PostmasterFile(dataDirectory: scratch.path("data"))?.killAll()
        service.program.kill()
    }
}

/// One figure of an innocent network.
private struct Comparison: Sendable {
    let what: String
    let before: Duration
    let beside: Duration
    /// What the control noticed at the same time.
    let control: Duration

    init(_ what: String, _ loaded: Innocent.Notice, quiet: Innocent.Notice, _ figure: (Innocent.Figures) -> Duration) {
        self.what = what
        before = figure(quiet.innocent)
        beside = figure(loaded.innocent)
        control = figure(loaded.control)
    }

    var normal: Duration { max(before, control) }

    /// Whether the figure is about what it was in quiet, or elsewhere; says all three.
    func isUndisturbed(beside neighbour: String, margin: Duration) -> Bool {
        print(
            """
            beside \(neighbour): \(what) \(before.inMilliseconds) → \(beside.inMilliseconds), \
            elsewhere \(control.inMilliseconds)
            """
        )
        return beside <= normal * 3 + margin
    }
}

/// Expects of what an innocent network noticed beside a neighbour that it is about what it noticed in quiet, or what the control
/// noticed at the same time, and says all three.
///
/// Three times that is what is promised; the seconds are for what a busy machine does to one service and not to the other: what
/// neighbours did to others before took tens of seconds or never ended. `Benchmarks/run neighbours` measures more closely. Where
/// that does not hold, but the machine has become busy meanwhile, there is nothing to judge, and the test counts as skipped.
func expectUndisturbed(
    beside neighbour: String,
    _ loaded: Innocent.Notice,
    quiet: Innocent.Notice,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    func check(_ what: String, _ figure: (Innocent.Figures) -> Duration) throws {
        let found = Comparison(what, loaded, quiet: quiet, figure)
        let isUndisturbed = found.isUndisturbed(beside: neighbour, margin: .seconds(3))
        if !isUndisturbed, found.control > max(found.before * 5, .milliseconds(250)) {
            try Test.cancel("not quiet enough to judge", sourceLocation: sourceLocation)
        }
        #expect(isUndisturbed, "\(what)", sourceLocation: sourceLocation)
    }
    try check("accepting", \.accepting)
    try check("delivery", \.delivery)
}

/// Expects the same of what is noticed beside a neighbour who used to cost others less than seconds.
///
/// Three looks are taken at most: the first that finds nothing decides, as who disturbs others does so all the time. A look at a machine
/// on which the margin is not a good part of the figure tells nothing, either way: where there are not two others, the test
/// counts as skipped.
func expectUndisturbed(
    beside neighbour: String,
    within margin: Duration,
    quiet: Innocent.Notice,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ look: (Int) async throws -> Innocent.Notice
) async throws {
    var disturbed: [String] = []
    for number in 1...3 {
        let loaded = try await look(number)
        let figures = [
            Comparison("accepting", loaded, quiet: quiet, \.accepting),
            Comparison("delivery", loaded, quiet: quiet, \.delivery),
        ]
        let found = figures.filter { !$0.isUndisturbed(beside: neighbour, margin: margin) }
        guard figures.allSatisfy({ $0.normal * 3 <= margin }) else { continue }
        if found.isEmpty { return }
        disturbed.append(found.map(\.what).joined(separator: " and "))
    }
    if disturbed.count < 2 { try Test.cancel("not quiet enough to judge", sourceLocation: sourceLocation) }
    Issue.record("disturbed: \(disturbed.joined(separator: ", "))", sourceLocation: sourceLocation)
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
