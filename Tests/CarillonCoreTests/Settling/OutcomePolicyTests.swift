import CarillonTesting
import Testing

@testable import CarillonCore

@Suite struct OutcomePolicyTests {
    private let policy = OutcomePolicy()

    private func settle(
        _ group: DeliveryGroup,
        _ outcomes: [Outcome],
        isOver: Bool = true,
        now: Timestamp = testNow
    ) -> (Settlement, OutcomePolicy.LaneSignal) {
        policy.settle(
            group,
            outcomes: zip(group.targets, outcomes).map { ($0, $1) },
            unreported: Array(group.targets.dropFirst(outcomes.count)),
            isOver: isOver,
            now: now,
            random: { 0 }
        )
    }

    @Test(arguments: [
        (Outcome.delivered(id: "p-1"), DeliveryState.delivered, nil, OutcomePolicy.LaneSignal.works),
        (.unregister(at: nil, reason: "http 410"), .unregistered, "http 410", .none),
        (.quarantine(reason: "BadDeviceToken"), .unregistered, "BadDeviceToken", .none),
        (.bug(reason: "blocked address"), .dead, "blocked address", .none),
        (.unsendable(reason: "payload too large"), .dead, "payload too large", .none),
    ])
    func `a final answer becomes a record`(
        outcome: Outcome,
        state: DeliveryState,
        reason: String?,
        signal: OutcomePolicy.LaneSignal
    ) {
        let (settlement, lane) = settle(.test([.test("d-1")], attempt: 2), [outcome])
        #expect(settlement.records.map(\.state) == [state])
        #expect(settlement.records.map(\.reason) == [reason])
        #expect(settlement.records.map(\.attempts) == [3])
        #expect(settlement.remainders.isEmpty)
        #expect(lane == signal)
    }

    @Test(arguments: [Outcome.retry(after: .seconds(9), reason: "http 503"), .timedOut(reason: "timed out")])
    func `what is sent only once is dead when it fails`(outcome: Outcome) {
        var group = DeliveryGroup.test([.test("d-1"), .test("d-2")])
        group.sent.push.content = PushContent(isRetried: false)
        let (settlement, lane) = settle(group, [outcome, .deferLane(after: nil, reason: "http 429")])
        #expect(settlement.records.map(\.state) == [.dead])
        #expect(settlement.records.first?.reason?.hasPrefix("sent once: ") == true)
        #expect(settlement.records.first?.effect == nil)
        #expect(settlement.troubles.isEmpty)
        #expect(settlement.remainders.map(\.attempt) == [0], "what was not handed over waits for its lane")
        #expect(lane == .pause(after: nil, reason: "http 429"))
    }

    @Test(arguments: [
        Outcome.retry(after: nil, reason: "connection refused", wasSent: false),
        .timedOut(reason: "timeout", wasSent: false),
    ])
    func `what is to be sent only once and was not is tried again`(outcome: Outcome) {
        var group = DeliveryGroup.test([.test("d-1")])
        group.sent.push.content = PushContent(isRetried: false)
        let (settlement, _) = settle(group, [outcome])
        #expect(settlement.records.isEmpty)
        #expect(settlement.remainders == [Remainder(targets: [.test("d-1")], attempt: 1, delay: .seconds(1))])
    }

    @Test func `what nobody could send says nothing of the device`() {
        let (settlement, _) = settle(.test([.test("d-1")]), [.unsendable(reason: "payload too large")])
        #expect(settlement.records.map(\.effect) == [nil])
        let ofDevice = Outcome.unsendable(reason: "blocked address", isOfDevice: true)
        #expect(settle(.test([.test("d-1")]), [ofDevice]).0.records.map(\.effect) == [.noteError("blocked address")])
    }

    @Test func `a delivery keeps the push service's id and clears an old error`() {
        let group = DeliveryGroup.test([.test("d-1", hasError: true), .test("d-2")])
        let (settlement, _) = settle(group, [.delivered(id: "p-1"), .delivered(id: nil)])
        #expect(settlement.records.map(\.providerMessageID) == ["p-1", nil])
        #expect(settlement.records.map(\.effect) == [.clearError, nil])
    }

    @Test func `a provider's older report of a death spares a device registered since`() {
        let death = testNow - .seconds(3600)
        let (settlement, _) = settle(.test([.test("d-1")]), [.unregister(at: death, reason: "gone")])
        let fence = testNow - .seconds(60) + .milliseconds(1)
        let dated = DeviceEffect.unregister(ifRegisteredBefore: fence, goneSince: death, error: "gone")
        #expect(settlement.records.first?.effect == dated)
        let (undated, _) = settle(.test([.test("d-1")]), [.unregister(at: nil, reason: "gone")])
        #expect(
            undated.records.first?.effect == .unregister(ifRegisteredBefore: fence, error: "gone"),
            "a device registered anew while the old address was sent to stays"
        )
    }

    @Test func `a failure counts as an attempt and waits by the schedule`() {
        let (settlement, signal) = settle(.test([.test("d-1")], attempt: 1), [.retry(after: nil, reason: "http 503")])
        #expect(settlement.records.isEmpty)
        #expect(settlement.remainders == [Remainder(targets: [.test("d-1")], attempt: 2, delay: .seconds(5))])
        #expect(settlement.troubles == [DeviceID(trusted: "d-1"): "http 503"])
        #expect(signal == .none)
    }

    @Test func `no answer in time is a failure like others`() {
        let group = DeliveryGroup.test([.test("d-1"), .test("d-2")], attempt: 1)
        let (settlement, signal) = settle(
            group,
            [.timedOut(reason: "timeout"), .retry(after: nil, reason: "http 503")]
        )
        #expect(settlement.remainders == [Remainder(targets: group.targets, attempt: 2, delay: .seconds(5))])
        #expect(settlement.troubles[DeviceID(trusted: "d-1")] == "timeout")
        #expect(signal == .none)
    }

    @Test func `devices with different Retry-After wait apart from each other`() {
        let group = DeliveryGroup.test([.test("d-1"), .test("d-2"), .test("d-3")])
        let (settlement, _) = settle(
            group,
            [
                .retry(after: .seconds(60), reason: "http 429"), .retry(after: nil, reason: "http 500"),
                .retry(after: .seconds(60), reason: "http 429"),
            ]
        )
        let delays = Dictionary(uniqueKeysWithValues: settlement.remainders.map { ($0.delay, $0.targets.count) })
        #expect(delays == [.seconds(60): 2, .seconds(1): 1])
    }

    @Test func `a retry is never put off beyond the notification's life`() {
        let group = DeliveryGroup.test([.test("d-1")], attempt: 9, receivedAt: testNow - .seconds(86_400 - 90))
        let (settlement, _) = settle(group, [.retry(after: nil, reason: "http 503")])
        #expect(settlement.remainders.map(\.delay) == [.seconds(90)])
    }

    @Test(arguments: [
        (
            Outcome.deferLane(after: .seconds(60), reason: "quota"),
            OutcomePolicy.LaneSignal.pause(after: .seconds(60), reason: "quota")
        ),
        (.misconfigured(reason: "bad key"), .pause(after: nil, reason: "bad key")),
    ])
    func `what concerns the lane costs the device no attempt`(outcome: Outcome, signal: OutcomePolicy.LaneSignal) {
        let (settlement, lane) = settle(.test([.test("d-1")], attempt: 1), [outcome])
        #expect(settlement.records.isEmpty)
        #expect(settlement.remainders == [Remainder(targets: [.test("d-1")], attempt: 1, delay: .zero)])
        #expect(lane == signal)
    }

    @Test func `reports that are held cost no attempt, and wait apart from their lane`() {
        let group = DeliveryGroup.test([.test("d-1"), .test("d-2"), .test("d-3")], attempt: 2)
        for (pausesLane, signal) in [
            (false, OutcomePolicy.LaneSignal.works), (true, .pause(after: .seconds(60), reason: "brake")),
        ] {
            let held = DoubtfulReports(targets: [group.targets[1]], reason: "brake", pausesLane: pausesLane)
            let (settlement, lane) = policy.settle(
                group,
                outcomes: [(group.targets[0], .delivered(id: nil))],
                doubtful: held,
                unreported: [group.targets[2]],
                isOver: false,
                now: testNow,
                random: { 0 }
            )
            let waiting = Remainder(targets: held.targets, attempt: 2, delay: .seconds(300), laneReason: "brake")
            #expect(settlement.remainders.map(\.delay) == [nil, .seconds(300)])
            #expect(settlement.remainders.last == waiting)
            #expect(settlement.records.map(\.deviceID) == [group.targets[0].deviceID])
            #expect(settlement.troubles.isEmpty, "the devices are not touched")
            #expect(lane == signal)
        }
    }

    @Test func `reports that are held do not wait beyond the notification's life`() {
        let group = DeliveryGroup.test([.test("d-1")], receivedAt: testNow - .seconds(86_400 - 90))
        let (settlement, _) = policy.settle(
            group,
            outcomes: [],
            doubtful: DoubtfulReports(targets: group.targets, reason: "brake", pausesLane: true),
            unreported: [],
            isOver: true,
            now: testNow,
            random: { 0 }
        )
        #expect(settlement.remainders.map(\.delay) == [.seconds(90)])
    }

    @Test func `while a group is being sent, what is not known yet stays leased in the first remainder`() {
        let group = DeliveryGroup.test([.test("d-1"), .test("d-2"), .test("d-3")])
        let (settlement, _) = settle(group, [.delivered(id: nil), .retry(after: nil, reason: "x")], isOver: false)
        #expect(settlement.records.count == 1)
        #expect(settlement.remainders.first == Remainder(targets: [.test("d-3")], attempt: 0, delay: nil))
        #expect(settlement.remainders.last == Remainder(targets: [.test("d-2")], attempt: 1, delay: .seconds(1)))
    }

    @Test func `what a cancelled send left unsaid goes back at once and costs nothing`() {
        let group = DeliveryGroup.test([.test("d-1"), .test("d-2")])
        let (settlement, _) = settle(group, [.delivered(id: nil)])
        #expect(settlement.remainders == [Remainder(targets: [.test("d-2")], attempt: 0, delay: .zero)])
    }

    @Test func `every device of a group is accounted for exactly once`() {
        let outcomes: [Outcome] = [
            .delivered(id: nil), .retry(after: nil, reason: "a"), .retry(after: .seconds(9), reason: "b"),
            .deferLane(after: nil, reason: "c"), .unregister(at: nil, reason: "d"), .quarantine(reason: "e"),
            .misconfigured(reason: "f"), .bug(reason: "g"),
        ]
        for known in 0...outcomes.count {
            let group = DeliveryGroup.test((0..<10).map { .test("d-\($0)") })
            for isOver in [true, false] {
                let (settlement, _) = settle(group, Array(outcomes.prefix(known)), isOver: isOver)
                let devices =
                    settlement.records.map(\.deviceID) + settlement.remainders.flatMap(\.targets).map(\.deviceID)
                #expect(devices.sorted() == group.targets.map(\.deviceID).sorted())
            }
        }
    }
}
