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

    @Test func `a refusal is about the device when the credential works for another`() {
        #expect(outcome(delivery, of: 1) == .delivered(id: nil))
        #expect(outcome(refusal) == .quarantine(reason: "no"))
    }

    @Test func `a success proves nothing after an hour, nor in another lane, nor of another credential`() {
        _ = outcome(delivery, of: 1)
        #expect(outcome(refusal, after: .seconds(3_599)) == .quarantine(reason: "no"))
        #expect(outcome(refusal, after: .seconds(3_600)) == .retry(after: nil, reason: "no"))
        #expect(outcome(refusal, appID: "b") == .retry(after: nil, reason: "no"))
        #expect(outcome(refusal, credential: "d") == .retry(after: nil, reason: "no"))
    }

    @Test func `ten devices refused without a success mean that the credential is wrong`() {
        for device in 1...9 { #expect(outcome(refusal, of: device) == .retry(after: nil, reason: "no")) }
        #expect(outcome(refusal, of: 10) == .misconfigured(reason: "no"))
        #expect(outcome(refusal, of: 1) == .misconfigured(reason: "no"))
    }

    @Test func `a key that is revoked after a success costs no more than a few devices`() {
        _ = outcome(delivery, of: 0)
        for device in 1...9 { #expect(outcome(refusal, of: device) == .quarantine(reason: "no")) }
        for device in 10...50 { #expect(outcome(refusal, of: device) == .misconfigured(reason: "no")) }
    }

    @Test func `single devices that are refused among others that are not are given up, however many they get`() {
        for device in 1...100 {
            _ = outcome(delivery, of: 1_000 + device)
            #expect(outcome(refusal, of: device) == .quarantine(reason: "no"))
        }
    }

    @Test func `a device that is refused again and again among successes stays about the device`() {
        _ = outcome(delivery, of: 1)
        for _ in 1...50 { #expect(outcome(refusal) == .quarantine(reason: "no")) }
    }

    @Test func `however many of one kind are refused, the others go on for as long as one gets through in an hour`() {
        _ = outcome(delivery, of: 0)
        for device in 1...50 {
            #expect(outcome(partial, of: device, after: .seconds(3_599)) == .retry(after: nil, reason: "kind"))
        }
        #expect(outcome(partial, of: 51, after: .seconds(3_600)) == .misconfigured(reason: "kind"))
        #expect(outcome(refusal, of: 52) == .quarantine(reason: "no"), "these are counted apart")
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
