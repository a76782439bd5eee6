import Postgres
import NIOCore

/// A channel that was imported a moment ago, beside a network that has been there for long: the first message must not take
/// much longer than the next.
struct FreshImport: Sendable {
    private static let members = 20_000
    private static let oldMembers = 150_000
    private static let limit = TimeAmount.seconds(150)

    /// How large both networks are.
    let size: Double

    /// Measures.
    /// - Throws: What does not start.
    func figures(in workshop: Workshop) async throws -> [Figure] {
        try await Cluster.withCluster(in: workshop) { cluster in
            try await ServiceUnderTest.withService(on: cluster) { service in
                let old = shape(Self.oldMembers)
                let settled = try await TestNetwork.make("settled", in: service)
                _ = try await settled.fill(with: old, in: service)
                try await cluster.script("VACUUM ANALYZE")
                let fresh = shape(Self.members)
                let network = try await TestNetwork.make("fresh", in: service)
                _ = try await network.fill(with: fresh, in: service)
                let events = SignedEvents(to: network, in: fresh, senders: 1, run: "message")
                let client = HTTPClient(port: service.port)
                var event = FollowedEvent(events: events, client: client, network: network)
                let first = try await seconds(for: &event)
                let next = try await seconds(for: &event)
                return [
                    Figure("first message, to done", first, "s", goal: .atMost(3 * next)),
                    Figure("next message, to done", next, "s"),
                    Figure("ratio", first / next),
                ]
            }
        }
    }

    private func shape(_ members: Int) -> DirectoryLines {
        let count = max(2, Int(Double(members) * size))
        return DirectoryLines(userCount: count, channelCount: 1, membersPerChannel: count, device: .log)
    }

    private func seconds(for event: inout FollowedEvent) async throws -> Double {
        let start = NIODeadline.now()
        _ = try await event.post()
        while NIODeadline.now() < start + Self.limit {
            let (status, at) = try await event.status()
            if status.isDone { return Double((at - start).nanoseconds) / 1e9 }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw BenchmarkFailure("a message is not done after \(Self.limit.nanoseconds / 1_000_000_000) s")
    }
}
