import CarillonCore
import CarillonTesting
import Testing

@testable import carillon

@Suite struct LaneMetricsTests {
    @Test func `lanes are counted by provider and circuit, and providers without any are 0`() {
        let registry = MetricRegistry()
        let network: NetworkID = "acme"
        func status(_ app: String, _ circuit: LaneStatus.Circuit) -> LaneStatus {
            LaneStatus(lane: Lane(networkID: network, provider: .apns, appID: app), circuit: circuit)
        }
        let lanes = [status("a", .open), status("b", .closed), status("c", .open)]
        LaneMetrics.register(in: registry, providers: [.apns, .log]) { lanes }
        let lines = registry.exposition().split(separator: "\n").map(String.init)
        #expect(lines.contains(#"carillon_lanes{provider="apns",circuit="open"} 2"#), "\(lines)")
        #expect(lines.contains(#"carillon_lanes{provider="apns",circuit="closed"} 1"#))
        #expect(lines.contains(#"carillon_lanes{provider="log",circuit="open"} 0"#))
    }

    @Test func `lanes whose brake is on are counted by provider`() {
        let registry = MetricRegistry()
        let network: NetworkID = "acme"
        var braked = LaneStatus(lane: Lane(networkID: network, provider: .apns, appID: "a"), circuit: .closed)
        braked.brake = LaneStatus.Brake(since: Timestamp(milliseconds: 0), reason: "60 of 70 devices reported as gone")
        let well = LaneStatus(lane: Lane(networkID: network, provider: .apns, appID: "b"), circuit: .open)
        LaneMetrics.register(in: registry, providers: [.apns, .fcm]) { [braked] in [braked, well] }
        let lines = registry.exposition().split(separator: "\n").map(String.init)
        #expect(lines.contains(#"carillon_brakes{provider="apns"} 1"#), "\(lines)")
        #expect(lines.contains(#"carillon_brakes{provider="fcm"} 0"#))
    }
}
