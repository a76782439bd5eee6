import CarillonCore
import Testing

@testable import CarillonProviders

@Suite struct LaneHistoryTests {
    private let history = LaneHistory()
    private let now = Timestamp(milliseconds: 1_763_632_800_000)
    private let refusal = Finding.refusal(
        ofDevice: .quarantine(reason: "no"),
        ofLane: .misconfigured(reason: "no"),
        unclear: .retry(after: nil, reason: "no")
    )
    private let partial = Finding.partial(
        ofKind: .retry(after: nil, reason: "kind"),
        ofLane: .misconfigured(reason: "kind")
    )
    private let limit = Finding.limit(
        ofDevice: .retry(after: nil, reason: "slow"),
        ofLane: .deferLane(after: nil, reason: "slow")
    )
    private let delivery = Finding.certain(.delivered(id: nil))

    private func outcome(
        _ finding: Finding,
        of device: Int = 0,
        appID: String = "a",
        credential: String = "c",
        after time: Duration = .zero
    ) -> Outcome {
        let lane = Lane(networkID: NetworkID(trusted: "acme"), provider: .webpush, appID: appID)
        let key = LaneHistory.Key(lane: lane, credential: credential)
        return history.outcome(finding, of: DeviceID(trusted: "d-\(device)"), in: key, at: now + time)
    }

    @Test func `a refusal is unclear as long as nothing else is known`() {
        #expect(outcome(refusal) == .retry(after: nil, reason: "no"))
    }

    private let unclear = Outcome.retry(after: nil, reason: "no")
    private let ofDevice = Outcome.quarantine(reason: "no")

    @Test func `a refusal is about the device when it comes again and the credential works for another`() {
        #expect(outcome(delivery, of: 1) == .delivered(id: nil))
        #expect(outcome(refusal) == unclear)
        #expect(outcome(refusal) == unclear, "nobody was served between the two")
        #expect(outcome(delivery, of: 1) == .delivered(id: nil))
        #expect(outcome(refusal) == ofDevice)
    }

    @Test func `a device that was served in between is not given up, however often that happens`() {
        for round in 0..<50 {
            for device in 0..<9 { #expect(outcome(refusal, of: device) == unclear, "round \(round)") }
            for device in 0..<9 { _ = outcome(delivery, of: device) }
        }
    }

    @Test func `what was the lane's fault is not held against a device`() {
        for device in 1...10 { _ = outcome(refusal, of: device) }
        _ = outcome(delivery, of: 0)
        for device in 1...9 { #expect(outcome(refusal, of: device) == unclear) }
    }

    @Test func `no more devices are remembered than there is room for`() {
        for device in 0..<100_001 {
            _ = outcome(refusal, of: device)
            _ = outcome(delivery, of: 1_000_000)
        }
        #expect(outcome(refusal, of: 5) == unclear, "forgotten")
        _ = outcome(delivery, of: 1_000_000)
        #expect(outcome(refusal, of: 5) == ofDevice)
    }

    @Test func `a success proves nothing after an hour, nor in another lane, nor of another credential`() {
        for device in 0..<3 { _ = outcome(refusal, of: device) }
        _ = outcome(delivery, of: 10)
        #expect(outcome(refusal, of: 0, after: .seconds(3_599)) == ofDevice)
        #expect(outcome(refusal, of: 1, after: .seconds(3_600)) == unclear)
        #expect(outcome(refusal, of: 2, appID: "b") == unclear)
        #expect(outcome(refusal, of: 2, credential: "d") == unclear)
        #expect(outcome(refusal, of: 2) == ofDevice)
    }

    @Test func `ten devices refused without a success mean that the credential is wrong`() {
        for device in 1...9 { #expect(outcome(refusal, of: device) == .retry(after: nil, reason: "no")) }
        #expect(outcome(refusal, of: 10) == .misconfigured(reason: "no"))
        #expect(outcome(refusal, of: 1) == .misconfigured(reason: "no"))
    }

    @Test func `a key that is revoked after a success costs no device`() {
        _ = outcome(delivery, of: 0)
        for device in 1...9 { #expect(outcome(refusal, of: device) == unclear) }
        for device in 10...50 { #expect(outcome(refusal, of: device) == .misconfigured(reason: "no")) }
    }

    @Test func `single devices that are refused among others that are not are given up, however many they get`() {
        for expected in [unclear, ofDevice] {
            for device in 1...100 {
                _ = outcome(delivery, of: 1_000 + device)
                #expect(outcome(refusal, of: device) == expected)
            }
        }
    }

    @Test func `a device that was given up begins anew`() {
        for expected in [unclear, ofDevice, unclear, ofDevice] {
            #expect(outcome(refusal) == expected)
            _ = outcome(delivery, of: 1)
        }
    }

    @Test func `however many of one kind are refused, the others go on for as long as one gets through in an hour`() {
        _ = outcome(delivery, of: 0)
        for device in 1...50 {
            #expect(outcome(partial, of: device, after: .seconds(3_599)) == .retry(after: nil, reason: "kind"))
        }
        #expect(outcome(partial, of: 51, after: .seconds(3_600)) == .misconfigured(reason: "kind"))
        #expect(outcome(refusal, of: 52) == unclear, "these are counted apart")
    }

    @Test func `ten of one kind stop a lane in which nothing gets through`() {
        for device in 1...9 { #expect(outcome(partial, of: device) == .retry(after: nil, reason: "kind")) }
        #expect(outcome(partial, of: 10) == .misconfigured(reason: "kind"))
        _ = outcome(delivery, of: 11)
        #expect(outcome(partial, of: 12) == .retry(after: nil, reason: "kind"))
    }

    @Test func `one device that is refused again and again never stops the others`() {
        for _ in 1...50 { #expect(outcome(refusal) == .retry(after: nil, reason: "no")) }
    }

    @Test func `a success ends what refusals and limits have added up to`() {
        for device in 1...20 { _ = outcome(refusal, of: device) }
        for _ in 1...20 { _ = outcome(limit) }
        _ = outcome(delivery, of: 30)
        #expect(outcome(refusal, after: .seconds(7_200)) == .retry(after: nil, reason: "no"))
        #expect(outcome(limit) == .retry(after: nil, reason: "slow"))
    }

    @Test func `limits are the lane's when ten in a row say so`() {
        for _ in 1...9 { #expect(outcome(limit) == .retry(after: nil, reason: "slow")) }
        #expect(outcome(limit) == .deferLane(after: nil, reason: "slow"))
        _ = outcome(.certain(.bug(reason: "other")))
        #expect(outcome(limit) == .deferLane(after: nil, reason: "slow"))
        _ = outcome(delivery)
        #expect(outcome(limit) == .retry(after: nil, reason: "slow"))
    }
}
