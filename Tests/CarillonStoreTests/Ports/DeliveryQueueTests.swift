import CarillonCore
import CarillonTesting
import Testing

/// What outbox promises of queueing and claiming.
@Suite(.stores) struct DeliveryQueueTests {
    let scene = StoreScene.here

    @Test func `pages of an event whose lease was lost are not written`() async throws {
        let event = try await scene.pending(.message("c", from: Person(id: "a")))
        let target = try await scene.target("d", of: "b")
        try await scene.passTime()
        let held = try #require(try await scene.inbox.claimEvents(limit: 1).first)
        let lost = Expansion(event: event, groups: [scene.group(event, to: [target])], next: nil)
        #expect(try await scene.queue.enqueue([lost]) == [false])
        #expect(try await scene.claim().isEmpty)
        let kept = Expansion(event: held, groups: [scene.group(held, to: [target])], next: nil)
        #expect(try await scene.queue.enqueue([kept]) == [true])
        #expect(try await scene.claim().map(\.group.id) == kept.groups.map(\.id))
    }

    @Test(arguments: [false, true])
    func `an event in hand twice is written once where both come to one commit`(isLostFirst: Bool) async throws {
        let event = try await scene.pending(.message("c", from: Person(id: "a")))
        let target = try await scene.target("d", of: "b")
        try await scene.passTime()
        let held = try #require(try await scene.inbox.claimEvents(limit: 1).first)
        let lost = Expansion(event: event, groups: [scene.group(event, to: [target])], next: nil)
        let kept = Expansion(event: held, groups: [scene.group(held, to: [target])], next: nil)
        let both = isLostFirst ? [lost, kept] : [kept, lost]
        #expect(try await scene.queue.enqueue(both) == [!isLostFirst, isLostFirst])
        #expect(try await scene.claim().map(\.group.id) == kept.groups.map(\.id))
    }

    @Test func `a page of an event is written once, even when it is asked for twice`() async throws {
        var event = try await scene.pending(.message("c", from: Person(id: "a")))
        let target = try await scene.target("d", of: "b")
        event.cursor = "m"
        let page = Expansion(event: event, groups: [scene.group(event, to: [target])], next: "m")
        #expect(try await scene.queue.enqueue([page]) == [true])
        let again = Expansion(event: event, groups: [scene.group(event, to: [target])], next: "m")
        #expect(try await scene.queue.enqueue([again]) == [false], "the answer to the first commit may have been lost")
        let last = Expansion(event: event, after: "m", groups: [], next: nil)
        #expect(try await scene.queue.enqueue([last]) == [true])
        #expect(try await scene.claim().map(\.group.id) == page.groups.map(\.id))
    }

    @Test func `the last page is written behind the one before it, and behind no other`() async throws {
        var event = try await scene.pending(.message("c", from: Person(id: "a")))
        let target = try await scene.target("d", of: "b")
        event.cursor = "m"
        let page = Expansion(event: event, groups: [scene.group(event, to: [target])], next: "m")
        #expect(try await scene.queue.enqueue([page]) == [true])
        // Read anew after the answer to the commit was lost, when fewer people are left.
        let again = Expansion(event: event, groups: [scene.group(event, to: [target])], next: nil)
        #expect(try await scene.queue.enqueue([again]) == [false])
        let last = Expansion(event: event, after: "m", groups: [], next: nil)
        #expect(try await scene.queue.enqueue([last]) == [true])
        #expect(try await scene.claim().map(\.group.id) == page.groups.map(\.id))
    }

    @Test func `the last page ends an event, once`() async throws {
        let event = try await scene.pending(.message("c", from: Person(id: "a")))
        let target = try await scene.target("d", of: "b")
        let expansion = Expansion(event: event, groups: [scene.group(event, to: [target])], next: nil)
        #expect(try await scene.queue.enqueue([expansion]) == [true])
        #expect(try await scene.queue.enqueue([expansion]) == [false])
        try await scene.passTime()
        #expect(try await scene.inbox.claimEvents(limit: 10).isEmpty)
        #expect(try await scene.claim().count == 1)
    }

    @Test func `after a page the event goes on behind it with its counts`() async throws {
        var event = try await scene.pending(.message("c", from: Person(id: "a")))
        event.tally.resolved = 5
        event.tally.notified = 2
        event.tally.suppressed = [.network: 0, .user: 1, .channel: 1]
        event.tally.noDevice = 1
        let page = Expansion(event: event, groups: [], next: "m")
        #expect(try await scene.queue.enqueue([page]) == [true])
        try await scene.passTime()
        let claimed = try #require(try await scene.inbox.claimEvents(limit: 1).first)
        #expect(claimed.cursor == "m")
        #expect(claimed.tally == event.tally)
        #expect(try await scene.history.event(event.id, in: scene.network)?.state == .delivering)
    }

    @Test func `a claimed group is the one that was queued, with today's addresses and settings`() async throws {
        let first = try await scene.target("d1", of: "b")
        let second = try await scene.target("d2", of: "b")
        let third = try await scene.target("d3", of: "\"e\\")
        _ = try await scene.toggles.set(.user("b"), ["enabled": false], in: scene.network)
        _ = try await scene.toggles.set(.channel("\"e\\", "c"), ["mentionsOnly": true], in: scene.network)
        _ = try await scene.toggles.set(.network, ["modules": ["chat": ["enabled": false]]], in: scene.network)
        var message = Event.message("c", from: Person(id: "a"), channelName: "C", mentions: ["b"])
        message.mentionsAll = true
        let event = try await scene.pending(message)
        var sent = scene.group(event, to: [first, second, third])
        sent.sent.push.content = StoreScene.content
        #expect(try await scene.queue.enqueue([Expansion(event: event, groups: [sent], next: nil)]) == [true])
        var moved = Device.log("d2", of: "b")
        moved.address = .fcm(token: "new", appID: "app")
        _ = try await scene.devices.putDevice(moved, in: scene.network)
        let claimed = try #require(try await scene.claim().first)
        #expect(claimed.group.id == sent.id)
        #expect(claimed.group.lane == sent.lane)
        #expect(claimed.group.cause == sent.cause)
        #expect(claimed.group.sent.push == sent.sent.push)
        #expect(claimed.group.attempt == 0)
        #expect(claimed.group.leased)
        #expect(claimed.group.leaseToken > sent.leaseToken)
        #expect(claimed.group.targets.map(\.deviceID) == ["d1", "d2", "d3"])
        #expect(claimed.group.targets[1].address == moved.address)
        #expect(claimed.gone.isEmpty)
        #expect(claimed.settings["b"]?.user.enabled == false)
        #expect(claimed.settings["\"e\\"]?.channel.mentionsOnly == true)
        #expect(claimed.networkToggles.disabledModules == [.chat])
    }

    @Test func `devices that are gone, moved or out of use are named`() async throws {
        var targets: [Target] = []
        for id in ["kept", "deleted", "moved", "quarantined", "relaned"] {
            targets.append(try await scene.target(DeviceID(trusted: id), of: "b"))
        }
        try await scene.enqueue(to: [targets])
        _ = try await scene.devices.deleteDevice("deleted", ifOwnedBy: nil, in: scene.network)
        _ = try await scene.target("moved", of: "other")
        _ = try await scene.target("relaned", of: "b", app: "another")
        var broken = Device.log("quarantined", of: "b")
        broken.address = try #require(targets[3].address)
        broken.state = .quarantined
        _ = try await scene.devices.putDevice(broken, in: scene.network)
        let claimed = try #require(try await scene.claim().first)
        #expect(claimed.group.targets.map(\.deviceID) == ["kept"])
        #expect(claimed.gone.map(\.deviceID) == ["deleted", "moved", "quarantined", "relaned"])
        #expect(claimed.gone.allSatisfy { $0.userID == "b" })
        let refreshed = try #require(try await scene.queue.refresh([claimed.group]).first)
        #expect(refreshed.group.targets == claimed.group.targets)
    }

    @Test func `a leased group is claimed only when its lease has run out`() async throws {
        try await scene.enqueue(to: [[try await scene.target("d", of: "b")]], leased: true)
        #expect(try await scene.claim().isEmpty)
        try await scene.passTime()
        #expect(try await scene.claim().count == 1)
        #expect(try await scene.claim().isEmpty)
    }

    @Test func `no lane takes more than its share, and excluded ones take nothing`() async throws {
        let one = try await scene.target("d1", of: "b", app: "one")
        let two = try await scene.target("d2", of: "b", app: "two")
        let three = try await scene.target("d3", of: "b", app: "three")
        try await scene.enqueue(to: Array(repeating: [one], count: 20), app: "one")
        try await scene.enqueue(to: Array(repeating: [two], count: 3), app: "two")
        try await scene.enqueue(to: Array(repeating: [three], count: 3), app: "three")
        let excluded = Lane(networkID: scene.network, provider: .fcm, appID: "three")
        var exclusions = ClaimExclusions()
        exclusions.lanes = [excluded]
        let claimed = try await scene.queue.claimGroups(limit: 8, limitPerLane: 5, excluding: exclusions).groups
        let apps = Dictionary(grouping: claimed, by: \.group.lane.appID).mapValues(\.count)
        #expect(apps == ["one": 5, "two": 3])
    }

    @Test func `every network has its turn`() async throws {
        let loud = try await scene.target("d", of: "b")
        try await scene.enqueue(to: Array(repeating: [loud], count: 50))
        let quiet = scene.inOtherNetwork()
        let target = try await quiet.target("d", of: "b")
        try await quiet.enqueue(to: [[target], [target]])
        var networks: [NetworkID] = []
        for _ in 0..<2 { networks += try await scene.claim(limit: 2, perLane: 2).map(\.group.lane.networkID) }
        #expect(networks.filter { $0 == scene.otherNetwork }.count == 2)
        var exclusions = ClaimExclusions()
        exclusions.networks = [scene.network]
        #expect(try await scene.queue.claimGroups(limit: 9, limitPerLane: 9, excluding: exclusions).groups.isEmpty)
    }

    @Test func `what is due in a paused lane waits until the pause is over`() async throws {
        let paused = try await scene.target("d1", of: "b", app: "paused")
        let works = try await scene.target("d2", of: "b", app: "works")
        try await scene.enqueue(to: Array(repeating: [paused], count: 30), app: "paused")
        try await scene.enqueue(to: [[works]], app: "works")
        let lane = LaneSelection(Lane(networkID: scene.network, provider: .fcm, appID: "paused"))
        let conditions = try await scene.queue.apply(.pause(for: .seconds(600), reason: "quota"), to: lane)
        #expect(conditions.lanes.values.first?.pause?.reason == "quota")
        #expect(try await scene.claim(limit: 9, perLane: 9).map(\.group.lane.appID) == ["works"])
        #expect(try await scene.claim(limit: 9, perLane: 9).isEmpty)
        _ = try await scene.queue.apply(.resume, to: lane)
        #expect(try await scene.queue.laneConditions(of: scene.network).lanes.isEmpty)
        try await scene.queue.makeDue(lane)
        #expect(try await scene.claim(limit: 99, perLane: 99).count == 30)
    }

    @Test func `claimers never get the same group`() async throws {
        let target = try await scene.target("d", of: "b")
        try await scene.enqueue(to: Array(repeating: [target], count: 200))
        let claimed = try await inParallel(4) { _ in
            var ids: [DeliveryGroup.ID] = []
            while case let groups = try await scene.claim(limit: 9, perLane: 9), !groups.isEmpty {
                ids += groups.map(\.group.id)
            }
            return ids
        }
        #expect(claimed.joined().count == 200)
        #expect(Set(claimed.joined()).count == 200)
    }

    @Test func `only who holds a lease renews it and gives it back`() async throws {
        try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
        let lost = try await scene.claimOne()
        #expect(try await scene.queue.renew([lost]) == RenewedLeases(renewed: [lost.id]))
        try await scene.passTime()
        let held = try await scene.claimOne()
        #expect(try await scene.queue.renew([lost]) == RenewedLeases())
        try await scene.queue.release([lost], after: .zero)
        #expect(try await scene.claim().isEmpty)
        try await scene.queue.release([held], after: .zero)
        #expect(try await scene.claimOne().id == held.id)
    }

    @Test func `a group given back for later waits`() async throws {
        try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
        try await scene.queue.release([try await scene.claimOne()], after: .seconds(600))
        #expect(try await scene.claim().isEmpty)
        try await scene.passTime()
        #expect(try await scene.claimOne().attempt == 0)
    }

    @Test func `what waits in a provider's lanes can be made due`() async throws {
        try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
        let group = try await scene.claimOne()
        try await scene.queue.makeDue(.init(networkID: scene.network, provider: .fcm, appID: nil))
        #expect(try await scene.claim().isEmpty, "it is somebody's")
        try await scene.queue.release([group], after: .seconds(600), laneReason: "quota")
        try await scene.queue.makeDue(.init(networkID: scene.network, provider: .fcm, appID: "other"))
        try await scene.queue.makeDue(.init(networkID: scene.network, provider: .apns, appID: nil))
        try await scene.queue.makeDue(.init(networkID: scene.otherNetwork, provider: .fcm, appID: nil))
        #expect(try await scene.claim().isEmpty)
        try await scene.queue.makeDue(.init(networkID: scene.network, provider: .fcm, appID: "app"))
        let again = try await scene.claimOne()
        try await scene.queue.release([again], after: .seconds(600), laneReason: "quota")
        try await scene.queue.makeDue(.init(networkID: scene.network, provider: .fcm, appID: nil))
        #expect(try await scene.claim().count == 1)
    }

    @Test func `what failed is made due only where it waits for its lane`() async throws {
        var targets: [Target] = []
        for id in ["own", "held", "given"] { targets.append(try await scene.target(DeviceID(trusted: id), of: "b")) }
        try await scene.enqueue(to: [targets])
        let waits = Duration.seconds(600)
        let group = try await scene.claimOne()
        let settlement = Settlement(
            group: group,
            records: [],
            remainders: [
                Remainder(targets: [targets[0]], attempt: 1, delay: waits),
                Remainder(targets: [targets[1]], attempt: 2, delay: waits, laneReason: "brake"),
                Remainder(targets: [targets[2]], attempt: 3, delay: .zero),
            ]
        )
        #expect(try await scene.queue.settle([settlement]).stale.isEmpty)
        try await scene.queue.release([try await scene.claimOne()], after: waits, laneReason: "no credential")
        let listed = try await scene.history.deliveries(
            of: group.cause.eventID,
            in: scene.network,
            after: nil,
            limit: 9
        )
        let reasons = listed?.items.sorted { $0.record.deviceID < $1.record.deviceID }.map(\.record.reason)
        #expect(reasons == ["no credential", "brake", nil], "people can see what waits for what")
        try await scene.queue.makeDue(.init(networkID: scene.network, provider: .fcm, appID: "app"))
        let due = try await scene.claim().map(\.group).sorted { $0.attempt < $1.attempt }
        let sending = try await scene.history.deliveries(
            of: group.cause.eventID,
            in: scene.network,
            after: nil,
            limit: 9
        )
        #expect(sending?.items.map(\.record.reason) == [nil, nil, nil], "what is being sent does not wait")
        #expect(due.map(\.attempt) == [2, 3])
        #expect(due.map { $0.targets.map(\.deviceID) } == [["held"], ["given"]])
        try await scene.queue.release(due, after: waits)
        try await scene.queue.makeDue(.init(networkID: scene.network, provider: .fcm, appID: "app"))
        #expect(try await scene.claim().isEmpty, "a reason does not outlive its time")
    }

    @Test func `all of a long queue is made due`() async throws {
        let target = try await scene.target("d", of: "b")
        try await scene.enqueue(to: Array(repeating: [target], count: 1_200))
        let groups = try await scene.claim(limit: 2_000, perLane: 2_000).map(\.group)
        try await scene.queue.release(groups, after: .seconds(600), laneReason: "no credential")
        try await scene.queue.makeDue(.init(networkID: scene.network, provider: .fcm, appID: nil))
        #expect(try await scene.claim(limit: 2_000, perLane: 2_000).count == 1_200)
    }

    @Test func `a group whose workers die again and again is dead`() async throws {
        let event = try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
        var claims = 0
        while case let groups = try await scene.claim(), !groups.isEmpty {
            claims += 1
            try #require(claims < 20)
            try await scene.passTime()
        }
        #expect(claims == 6)
        #expect(try await scene.history.event(event, in: scene.network)?.deliveries[.dead] == 1)
        let letter = try #require(try await scene.history.deadLetters(in: scene.network, after: nil, limit: 1).first)
        #expect(letter.record.reason == "crash loop")
    }

    @Test func `being given back is no crash`() async throws {
        try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
        for _ in 0..<10 { try await scene.queue.release([try await scene.claimOne()], after: .zero) }
        #expect(try await scene.claim().count == 1)
    }

    @Test func `only groups whose life is over are claimed as expired`() async throws {
        let target = try await scene.target("d", of: "b")
        try await scene.enqueue(to: [[target]])
        let day = notificationTimeToLive + .seconds(1)
        var old = try await scene.pending(.message("c", from: Person(id: "a"), at: 5))
        old.receivedAt = old.receivedAt - day
        let group = scene.group(old, to: [target])
        #expect(try await scene.queue.enqueue([Expansion(event: old, groups: [group], next: nil)]) == [true])
        let other = try await scene.queue.claimExpired(limit: 10, excluding: [scene.network])
        #expect(other.isEmpty, "nothing can be written of it now")
        #expect(try await scene.queue.claimExpired(limit: 10).map(\.group.id) == [group.id])
        #expect(try await scene.queue.claimExpired(limit: 10).isEmpty)
    }

    @Test func `a change after a read point is seen, an earlier one is not`() async throws {
        _ = try await scene.toggles.set(.user("early"), ["enabled": false], in: scene.network)
        let point = try await scene.page(of: .message("c", from: Person(id: "a"))).readPoint
        let here = (network: scene.network, point: point)
        let there = (network: scene.otherNetwork, point: try await scene.inOtherNetwork().readPoint())
        #expect(try await scene.queue.changes(since: [here, there]) == [.none, .none])
        _ = try await scene.toggles.set(.user("b"), ["enabled": false], in: scene.network)
        _ = try await scene.toggles.set(.channel("e", "c"), ["enabled": false], in: scene.network)
        #expect(try await scene.queue.changes(since: [here, there]) == [.users(["b", "e"]), .none])
        _ = try await scene.toggles.set(.network, ["enabled": false], in: scene.otherNetwork)
        #expect(try await scene.queue.changes(since: [there, here]) == [.everybody, .users(["b", "e"])])
        let later = try await scene.page(of: .message("c", from: Person(id: "a"))).readPoint
        #expect(try await scene.queue.changes(since: [(scene.network, later)]) == [.none])
    }

    @Test func `losing a device and being deleted are changes`() async throws {
        _ = try await scene.target("d1", of: "moved")
        _ = try await scene.target("d2", of: "deleted")
        try await scene.accept(.user(.userUpdated, Person(id: "gone", displayName: "G"), at: 0))
        let point = try await scene.page(of: .message("c", from: Person(id: "a"))).readPoint
        _ = try await scene.target("d1", of: "next")
        _ = try await scene.devices.deleteDevice("d2", ifOwnedBy: nil, in: scene.network)
        try await scene.accept(.user(.userDeleted, Person(id: "gone"), at: 1))
        #expect(
            try await scene.queue.changes(since: [(scene.network, point)])
                == [.users(["moved", "deleted", "gone"])]
        )
    }

    @Test func `an unknown read point means that everything may have changed`() async throws {
        #expect(
            try await scene.queue.changes(since: [(scene.network, ReadPoint("?", moment: WallClock.system.now()))]) == [
                .everybody
            ]
        )
    }

    @Test func `waiting is measured from when something was due`() async throws {
        #expect(try await scene.queue.oldestWait() < .seconds(1))
        let old = scene.incoming(
            .message("c", from: Person(id: "a")),
            receivedAt: WallClock.system.now() - .seconds(100)
        )
        _ = try await scene.inbox.accept([old])
        #expect(try await scene.queue.oldestWait() >= .seconds(99))
    }
}
