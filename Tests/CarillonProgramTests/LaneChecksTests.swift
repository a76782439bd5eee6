import CarillonCore
import Testing

@testable import carillon

/// What doctor says of a network's lanes, and of apps that nothing can be sent to.
@Suite struct LaneChecksTests {
    private func words(_ findings: [Finding]) -> [String] {
        findings.map { "\($0.verdict.rawValue) \($0.subject): \($0.detail)" }
    }

    @Test func `each lane that is paused fails with its reason`() {
        let acme = NetworkID(trusted: "acme")
        let open = LaneStatus(
            lane: Lane(networkID: acme, provider: .apns, appID: "com.acme.chat"),
            circuit: .open,
            since: Timestamp(milliseconds: 0),
            reason: "403 InvalidProviderToken"
        )
        var braked = LaneStatus(lane: Lane(networkID: acme, provider: .fcm, appID: "app"), circuit: .closed)
        braked.brake = .init(since: Timestamp(milliseconds: 0), reason: "30 of 40")
        #expect(
            words(LaneChecks.findings(of: [braked, open])) == [
                "FAIL lane apns/com.acme.chat: the circuit is open since 1970-01-01T00:00:00.000Z: 403 InvalidProviderToken; "
                    + "what is sent through it waits",
                "warn lane fcm/app: devices that are reported as gone since 1970-01-01T00:00:00.000Z are not believed (30 of 40): "
                    + "POST …/release lets go",
            ]
        )
        #expect(words(LaneChecks.findings(of: [])) == ["ok lanes: none is paused"])
    }

    @Test func `apps with devices and no credential fail`() {
        let apps: [DeviceSelection.App] = [
            .init(.webpush, "push.example"), .init(.webpush, "other.example"), .init(.fcm, "one"), .init(.fcm, "two"),
            .init(.log, ""), .init(.webhook, "bot.example"),
        ]
        #expect(
            words(LaneChecks.findings(of: apps, with: [(.fcm, "one")])) == [
                "FAIL fcm two: there are devices and no credential, so that nothing is sent to them: PUT /providers/fcm/apps/two",
                "FAIL webpush: there are devices and no credential, so that nothing is sent to them: PUT /providers/webpush",
            ]
        )
        #expect(LaneChecks.findings(of: apps, with: [(.fcm, "one"), (.fcm, "two"), (.webpush, "")]).isEmpty)
    }
}
