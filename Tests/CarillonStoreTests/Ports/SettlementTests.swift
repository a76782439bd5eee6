import CarillonCore
import CarillonTesting
import Testing

/// What ``DeliveryQueue`` promises of settling.
@Suite(.stores) struct SettlementTests {
    let scene = StoreScene.here

    @Test func `a settlement whose fence does not match writes nothing`() async throws {
        let event = try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
        let lost = try await scene.claimOne()
        try await scene.passTime()
        let held = try await scene.claimOne()
        let effect = DeviceEffect.unregister(ifRegisteredBefore: .seconds(90), error: "gone")
        #expect(try await scene.queue.settle([.all(lost, .dead, effect: effect)]).stale == [lost.id])
        #expect(try await scene.history.event(event, in: scene.network)?.deliveries[.pending] == 1)
        #expect(try await scene.history.deadLetters(in: scene.network, after: nil, limit: 9).isEmpty)
        #expect(try await scene.devices.device("d", in: scene.network)?.state == .active)
        #expect(try await scene.queue.settle([.all(held, .delivered)]).stale.isEmpty)
        #expect(try await scene.queue.settle([.all(held, .delivered)]).stale == [held.id])
        #expect(try await scene.history.event(event, in: scene.network)?.deliveries[.delivered] == 1)
    }

    @Test func `of several settlements only those that match are written`() async throws {
        let first = try await scene.target("d1", of: "b")
        let second = try await scene.target("d2", of: "b")
        let event = try await scene.enqueue(to: [[first], [second]])
        let groups = try await scene.claim().map(\.group)
        var stale = groups[0]
        stale.leaseToken -= 1
        #expect(
            try await scene.queue.settle([.all(stale, .delivered), .all(groups[1], .delivered)]).stale == [stale.id]
        )
        let status = try #require(try await scene.history.event(event, in: scene.network))
        #expect(status.deliveries[.delivered] == 1)
        #expect(status.deliveries[.pending] == 1)
        #expect(status.state == .delivering)
    }

    @Test func `the first remainder stays leased while the group is being sent`() async throws {
        let targets = [try await scene.target("d1", of: "b"), try await scene.target("d2", of: "b")]
        let event = try await scene.enqueue(to: [targets])
        let group = try await scene.claimOne()
        let settlement = Settlement(
            group: group,
            records: [targets[0].record(.delivered)],
            remainders: [Remainder(targets: [targets[1]], attempt: 0, delay: nil)]
        )
        #expect(try await scene.queue.settle([settlement]).stale.isEmpty)
        #expect(try await scene.claim().isEmpty)
        #expect(try await scene.queue.renew([group]).renewed == [group.id])
        #expect(try await scene.queue.settle([settlement]).stale.isEmpty, "written twice, it counts once")
        #expect(try await scene.history.event(event, in: scene.network)?.deliveries[.delivered] == 1)
        let rest = Settlement(group: group, records: [targets[1].record(.delivered)], remainders: [])
        #expect(try await scene.queue.settle([rest]).stale.isEmpty)
        let status = try #require(try await scene.history.event(event, in: scene.network))
        #expect(status.deliveries[.delivered] == 2)
        #expect(status.state == .done)
    }

    @Test func `what failed is claimed again after its delay, with its attempts`() async throws {
        var targets: [Target] = []
        for id in ["d1", "d2", "d3"] { targets.append(try await scene.target(DeviceID(trusted: id), of: "b")) }
        try await scene.enqueue(to: [targets])
        let group = try await scene.claimOne()
        let settlement = Settlement(
            group: group,
            records: [targets[0].record(.delivered)],
            remainders: [
                Remainder(targets: [targets[1]], attempt: 1, delay: .seconds(600)),
                Remainder(targets: [targets[2]], attempt: 4, delay: .seconds(600)),
            ]
        )
        #expect(try await scene.queue.settle([settlement]).stale.isEmpty)
        #expect(try await scene.claim().isEmpty)
        #expect(try await scene.queue.renew([group]) == RenewedLeases())
        try await scene.passTime()
        let claimed = try await scene.claim().map(\.group).sorted { $0.attempt < $1.attempt }
        #expect(claimed.map(\.attempt) == [1, 4])
        #expect(claimed.map { $0.targets.map(\.deviceID) } == [["d2"], ["d3"]])
        #expect(claimed.first?.id == group.id)
        #expect(claimed.last?.sent.push == group.sent.push)
        #expect(claimed.last?.cause == group.cause)
    }

    @Test func `a settle forgives former crashes`() async throws {
        let targets = [try await scene.target("d1", of: "b"), try await scene.target("d2", of: "b")]
        try await scene.enqueue(to: [targets])
        var group = try await scene.claimOne()
        for _ in 0..<4 {
            try await scene.passTime()
            group = try await scene.claimOne()
        }
        let settlement = Settlement(
            group: group,
            records: [targets[0].record(.delivered)],
            remainders: [Remainder(targets: [targets[1]], attempt: 0, delay: nil)]
        )
        #expect(try await scene.queue.settle([settlement]).stale.isEmpty)
        for _ in 0..<4 {
            try await scene.passTime()
            #expect(try await scene.claim().count == 1)
        }
    }

    @Test func `a success clears a device's error, a trouble notes it`() async throws {
        let targets = [try await scene.target("d1", of: "b"), try await scene.target("d2", of: "b")]
        try await scene.enqueue(to: [targets])
        let group = try await scene.claimOne()
        _ = try await scene.queue.settle([
            Settlement(
                group: group,
                records: [targets[0].record(.expired, effect: .noteError("slow"))],
                troubles: ["d2": "busy"],
                remainders: [Remainder(targets: [targets[1]], attempt: 1, delay: .zero)]
            )
        ])
        #expect(try await scene.devices.device("d1", in: scene.network)?.error == "slow")
        #expect(try await scene.devices.device("d2", in: scene.network)?.error == "busy")
        #expect(try await scene.devices.device("d2", in: scene.network)?.state == .active)
        let again = try await scene.claimOne()
        #expect(again.targets.first?.hasError == true)
        _ = try await scene.queue.settle([.all(again, .delivered, effect: .clearError)])
        #expect(try await scene.devices.device("d2", in: scene.network)?.error == nil)
    }

    @Test func `a device registered again since is not unregistered`() async throws {
        let target = try await scene.target("d", of: "b")
        for (moment, state) in [(Int64(-5), DeviceState.active), (0, .active), (5, .unregistered)] {
            try await scene.enqueue(to: [[target]])
            let group = try await scene.claimOne()
            let effect = DeviceEffect.unregister(ifRegisteredBefore: .seconds(moment), error: "gone")
            _ = try await scene.queue.settle([.all(group, .unregistered, effect: effect)])
            #expect(try await scene.devices.device("d", in: scene.network)?.state == state)
        }
        #expect(try await scene.devices.device("d", in: scene.network)?.error == "gone")
        _ = try await scene.target("d", of: "b")
        #expect(try await scene.devices.device("d", in: scene.network)?.state == .active)
    }

    @Test("a device is not gone whose address was obtained since, and is where nobody knows when it was")
    func deviceWhoseAddressWasObtainedSince() async throws {
        func device(_ id: DeviceID, obtainedAt: Timestamp? = nil) -> Device {
            let address = DeviceAddress.fcm(token: "token-of-\(id)", appID: "app")
            return Device(id: id, userID: "b", address: address, registeredAt: .seconds(60), obtainedAt: obtainedAt)
        }
        let named = [nil, Timestamp.seconds(20)].map { moment in
            let token = "named-\(moment.map { "\($0)" } ?? "never")"
            return AddressedDevice(address: .fcm(token: token, appID: "app"), obtainedAt: moment)
        }
        _ = try await scene.page(of: .direct(.addresses(named)))
        let devices = [
            device("registered"), device("dated", obtainedAt: .seconds(20)), device("undated", obtainedAt: .epoch),
        ]
        for device in devices { _ = try await scene.devices.putDevice(device, in: scene.network) }
        let transient = named.map { named in
            Target(
                deviceID: DeviceID(reachedAt: named.address),
                userID: .nobody,
                .device(named.address, registeredAt: WallClock.system.now(), hasError: false)
            )
        }
        let targets = devices.map { Target($0) } + transient
        func inUse(afterGoneSince moment: Timestamp) async throws -> [Bool] {
            try await scene.enqueue(to: [targets])
            let fence = WallClock.system.now() + .seconds(3_600)
            let effect = DeviceEffect.unregister(ifRegisteredBefore: fence, goneSince: moment, error: "gone")
            _ = try await scene.queue.settle([.all(try await scene.claimOne(), .unregistered, effect: effect)])
            var states: [Bool] = []
            for target in targets {
                states.append(try await scene.devices.device(target.deviceID, in: scene.network)?.state == .active)
            }
            return states
        }
        #expect(try await inUse(afterGoneSince: .seconds(10)) == [true, true, false, false, true])
        #expect(try await inUse(afterGoneSince: .seconds(30)) == [true, false, false, false, false])
        #expect(try await inUse(afterGoneSince: .seconds(90)) == [false, false, false, false, false])
        _ = try await scene.devices.putDevice(device("undated"), in: scene.network)
        #expect(
            try await inUse(afterGoneSince: .seconds(30)) == [false, false, true, false, false],
            "registered again, it began then"
        )
    }

    @Test func `a quarantined device is kept, and stays so until it is registered again`() async throws {
        let target = try await scene.target("d", of: "b")
        try await scene.enqueue(to: [[target]])
        let point = try await scene.page(of: .message("c", from: Person(id: "a"))).readPoint
        let effect = DeviceEffect.quarantine(ifRegisteredBefore: .seconds(5), error: "bad topic")
        _ = try await scene.queue.settle([.all(try await scene.claimOne(), .dead, effect: effect)])
        #expect(try await scene.devices.device("d", in: scene.network)?.state == .quarantined)
        #expect(try await scene.queue.changes(since: [(scene.network, point)]) == [.users(["b"])])
        _ = try await scene.target("d", of: "b")
        #expect(try await scene.devices.device("d", in: scene.network)?.state == .active)
    }

    @Test func `what is said of a device that moved to another user is not applied`() async throws {
        let target = try await scene.target("d", of: "b")
        try await scene.enqueue(to: [[target]])
        let group = try await scene.claimOne()
        _ = try await scene.target("d", of: "next")
        let effect = DeviceEffect.unregister(ifRegisteredBefore: .seconds(99), error: "gone")
        var settlement = Settlement.all(group, .unregistered, effect: effect)
        settlement.records = [target.record(.unregistered, effect: effect)]
        _ = try await scene.queue.settle([settlement])
        #expect(try await scene.devices.device("d", in: scene.network)?.state == .active)
    }

    @Test func `two replicas settle the same devices without failing`() async throws {
        var targets: [Target] = []
        for number in 0..<30 { targets.append(try await scene.target("d\(number)", of: "b")) }
        try await scene.enqueue(to: (0..<40).map { $0 % 2 == 0 ? targets : targets.reversed() })
        let groups = try await scene.claim().map(\.group)
        let unmatched = try await inParallel(8) { turn in
            let share = groups.enumerated().filter { $0.offset % 8 == turn }.map(\.element)
            return try await scene.queue.settle(
                share.map { .all($0, .delivered, effect: turn % 2 == 0 ? .clearError : .noteError("\(turn)")) }
            ).stale
        }
        #expect(unmatched.allSatisfy { $0.isEmpty })
    }
}
