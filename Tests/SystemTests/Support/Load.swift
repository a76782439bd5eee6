import CarillonCore
import Synchronization
import Testing

/// Posts messages over several connections until it is told to stop, and remembers what was acknowledged.
final class Load: Sendable {
    private struct State {
        var acknowledged: Set<String> = []
        var refused = 0
        var isOver = false
    }

    private let state = Mutex(State())

    init() {}

    /// The ids of the events that were answered with 202.
    var acknowledged: Set<String> { state.withLock { $0.acknowledged } }
    /// How many requests failed or were answered with something else.
    var refused: Int { state.withLock { $0.refused } }

    /// Posts while `body` runs.
    func run<Value: Sendable>(
        on network: TestNetwork,
        connections: Int = 8,
        during body: () async throws -> Value
    ) async throws -> Value {
        try await run(on: [network], connections: connections, during: body)
    }

    /// Posts to several services in turn while `body` runs.
    func run<Value: Sendable>(
        on networks: [TestNetwork],
        connections: Int = 8,
        during body: () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for connection in 0..<connections {
                let network = networks[connection % networks.count]
                group.addTask { await self.post(on: network, prefix: "load-\(connection)") }
            }
            defer { state.withLock { $0.isOver = true } }
            return try await body()
        }
    }

    private func post(on network: TestNetwork, prefix: String) async {
        var number = 0
        while !state.withLock({ $0.isOver }), !Task.isCancelled {
            number += 1
            let answer = try? await network.post(TestEvents.messageSent("\(prefix)-\(number)"))
            let id = answer?.status == 202 ? answer?.json["id"]?.text : nil
            state.withLock { state in if let id { state.acknowledged.insert(id) } else { state.refused += 1 } }
            // Between failures, so that a service that is away is not asked thousands of times.
            if id == nil { try? await Task.sleep(for: .milliseconds(20)) }
        }
    }
}

extension TestNetwork {
    /// Makes a channel with these members, each with a device of the `log` provider.
    func addMembers(_ members: [String]) async throws {
        for member in members { try await addLogDevice("\(member)-device", of: member) }
        _ = try await done(try await accept(TestEvents.channelCreated("channel", members: members)))
    }
}

/// Waits until every event was written for every member, by whichever of the processes.
func expectDelivery(
    of events: Set<String>,
    to members: [String],
    from services: [RunningService],
    within limit: Duration = .seconds(30)
) async throws {
    let expected = Set(events.flatMap { event in members.map { "\(event) \($0)-device" } })
    try await eventually(within: limit, "delivery of all \(events.count) acknowledged events") {
        let delivered = Set(services.flatMap(\.logLines).map { "\($0.eventID) \($0.deviceID)" })
        return expected.isSubset(of: delivered)
    }
}

/// How many lines were written more than once.
func duplicates(from services: [RunningService]) -> Int {
    let lines = services.flatMap(\.logLines)
    return lines.count - Set(lines).count
}
