import CarillonTesting
import Foundation
import Testing

@testable import CarillonCore

@Suite struct LastLookTests {
    private func refreshed(
        _ group: DeliveryGroup,
        gone: [Target] = [],
        settings: [UserID: ToggleSettings] = [:],
        network: NetworkToggles = .init()
    ) -> RefreshedGroup {
        RefreshedGroup(
            group: group,
            gone: gone,
            settings: settings,
            networkToggles: network,
            readPoint: ReadPoint("0", moment: testNow)
        )
    }

    @Test func `nothing has changed`() {
        let group = DeliveryGroup.test([.test("d-1"), .test("d-2")])
        let (left, records) = LastLook.verdict(on: refreshed(group))
        #expect(left.targets == group.targets)
        #expect(records.isEmpty)
    }

    @Test func `a switch flipped since is obeyed, and named`() {
        let bob = UserID(trusted: "bob")
        var muted = ToggleSettings()
        muted.channel.mentionsOnly = true
        let group = DeliveryGroup.test([.test("d-1", user: "bob"), .test("d-2", user: "carol")])
        let (left, records) = LastLook.verdict(on: refreshed(group, settings: [bob: muted]))
        #expect(left.targets == [.test("d-2", user: "carol")])
        #expect(records.map(\.state) == [.suppressed])
        #expect(records.map(\.userID) == [bob])
        #expect(records.map(\.reason) == ["channel: mentionsOnly"])
    }

    @Test func `a mention still counts at the last look`() {
        let bob = UserID(trusted: "bob")
        var muted = ToggleSettings()
        muted.channel.mentionsOnly = true
        let group = DeliveryGroup.test([.test("d-1", user: "bob")], mentions: [bob])
        #expect(LastLook.verdict(on: refreshed(group, settings: [bob: muted])).records.isEmpty)
    }

    @Test func `the network's main switch stops everybody`() {
        var network = NetworkToggles()
        network.enabled = false
        let group = DeliveryGroup.test([.test("d-1"), .test("d-2")])
        let (left, records) = LastLook.verdict(on: refreshed(group, network: network))
        #expect(left.targets.isEmpty)
        #expect(records.map(\.reason) == ["network: enabled", "network: enabled"])
    }

    @Test func `it is known until when quiet hours allow what is sent`() throws {
        let bob = UserID(trusted: "bob")
        var quiet = ToggleSettings()
        let utc = try #require(TimeZone(identifier: "UTC"))
        let minute = Int(testNow.milliseconds / 60_000 % 1440)
        quiet.user.quietHours = QuietHours(from: (minute + 10) % 1440, to: (minute + 20) % 1440, timeZone: utc)
        let group = DeliveryGroup.test([.test("d-1", user: "bob"), .test("d-2", user: "carol")])
        let (left, _) = LastLook.verdict(on: refreshed(group, settings: [bob: quiet]))
        let end = try #require(left.sent.allowedUntil)
        #expect(left.targets.count == 2)
        #expect(quiet.user.quietHours?.contains(end) == true)
        #expect(quiet.user.quietHours?.contains(end - .milliseconds(1)) == false)
        let held = LeasedGroup(group: left, readPoint: ReadPoint("0", moment: testNow), readAt: .now)
        #expect(!held.isTouchedByTime(at: held.readAt))
        #expect(held.isTouchedByTime(at: held.readAt + .seconds(600)))
    }

    @Test func `a device that is gone is written down as unregistered`() {
        let (left, records) = LastLook.verdict(on: refreshed(.test([.test("d-2")]), gone: [.test("d-1")]))
        #expect(left.targets == [.test("d-2")])
        #expect(records.map(\.state) == [.unregistered])
        #expect(records.map(\.deviceID) == [DeviceID(trusted: "d-1")])
    }

    @Test(arguments: [(86_399, 1), (86_400, 0), (90_000, 0)])
    func `nothing is sent after its life of 24 hours`(age: Int, sent: Int) {
        let group = DeliveryGroup.test([.test("d-1")], receivedAt: testNow - .seconds(age))
        let (left, records) = LastLook.verdict(on: refreshed(group))
        #expect(left.targets.count == sent)
        #expect(records.map(\.state) == (sent == 0 ? [.expired] : []))
    }
}
