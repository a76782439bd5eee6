import CarillonCore
import CarillonTesting
import Foundation
import Testing

/// What ``EventHistory`` promises.
@Suite(.stores) struct EventHistoryTests {
    let scene = StoreScene.here

    @Test func `why an event concerned nobody is told`() async throws {
        func expanded(_ event: Event, _ why: WhyNobody?) async throws -> EventID {
            let pending = try await scene.pending(event)
            #expect(try await scene.history.event(pending.id, in: scene.network)?.why == nil)
            var expansion = Expansion(event: pending, groups: [], next: nil)
            expansion.why = why
            #expect(try await scene.queue.enqueue([expansion]) == [true])
            return pending.id
        }
        var messages: [WhyNobody: EventID] = [:]
        for (number, why) in WhyNobody.allCases.enumerated() {
            messages[why] = try await expanded(.message("c", from: Person(id: "z"), at: Int64(number)), why)
        }
        for (why, id) in messages {
            #expect(try await scene.history.event(id, in: scene.network)?.why == why)
        }
        let told = try await expanded(.message("c", from: Person(id: "z"), at: 60), nil)
        let created = try await expanded(.created("c", by: "z", members: [], at: 61), .onlyActor)
        #expect(try await scene.history.event(told, in: scene.network)?.why == nil)
        #expect(try await scene.history.event(created, in: scene.network)?.why == .onlyActor)
        let all = Set(messages.values).union([told, created, EventID(scene.ids.next())])
        let unread = try await scene.history.unreadMessages(among: all, in: scene.network)
        #expect(unread == Set(WhyNobody.withoutMembers.compactMap { messages[$0] }))
        #expect(try await scene.history.unreadMessages(among: all, in: scene.otherNetwork).isEmpty)
        #expect(try await scene.history.unreadMessages(among: [], in: scene.network).isEmpty)
    }

    @Test func `what waits of an event can be withdrawn, wherever it waits`() async throws {
        let (waiting, held) = (try await scene.target("w", of: "a"), try await scene.target("h", of: "b"))
        let pending = try await scene.pending(.message("c", from: Person(id: "z"), id: "evt"))
        let groups = [scene.group(pending, to: [waiting]), scene.group(pending, to: [held], leased: true)]
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: groups, next: nil)]) == [true])
        let other = try await scene.enqueue(to: [[waiting]])
        let before = try #require(try await scene.queue.refresh([groups[1]]).first)
        #expect(before.withdrawal == nil)
        #expect(try await scene.history.withdraw(pending.id, in: scene.network))
        // What a replica holds is looked at again before it is sent.
        let changes = try await scene.queue.changes(since: [(scene.network, before.readPoint)])
        #expect(changes == [.everybody])
        #expect(try await scene.queue.refresh([groups[1]]).map(\.withdrawal) == [.withdrawn])
        // What nobody holds is found among what is over, whatever its lane does.
        let expired = try await scene.queue.claimExpired(limit: 10)
        #expect(expired.map(\.group.id) == [groups[0].id])
        #expect(expired.map(\.withdrawal) == [.withdrawn])
        let others = try await scene.claim()
        #expect(others.map(\.group.cause.eventID) == [other])
        #expect(others.map(\.withdrawal) == [nil])
        #expect(try await scene.history.withdraw(pending.id, in: scene.network))
        #expect(try await scene.history.withdraw(pending.id, in: scene.otherNetwork) == false)
        #expect(try await scene.history.withdraw(EventID(scene.ids.next()), in: scene.network) == false)
    }

    @Test func `an event can be withdrawn before its recipients are found`() async throws {
        let pending = try await scene.pending(.message("c", from: Person(id: "z"), id: "evt"))
        #expect(!pending.isWithdrawn)
        #expect(try await scene.history.withdraw(pending.id, in: scene.network))
        let group = scene.group(pending, to: [try await scene.target("d", of: "a")])
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: [group], next: nil)]) == [false])
        let claimed = try await scene.inbox.claimEvents(limit: 10)
        #expect(claimed.map(\.id) == [pending.id])
        #expect(claimed.map(\.isWithdrawn) == [true])
        let end = claimed.map { Expansion(event: $0, groups: [], next: nil) }
        #expect(try await scene.queue.enqueue(end) == [true])
        #expect(try await scene.history.event(pending.id, in: scene.network)?.state == .done)
    }

    private func deletion(of message: String = "m", in channel: ChannelID = "c") -> Event {
        var event = Event.channel(.messageDeleted, Channel(id: channel), at: 1)
        event.sourceID += message
        event.timestamp = WallClock.system.now()
        event.message = Message(id: message, kind: .other, text: "")
        return event
    }

    @Test func `of a deleted message nobody is told any more, wherever it waits`() async throws {
        let (waiting, held) = (try await scene.target("w", of: "a"), try await scene.target("h", of: "b"))
        let pending = try await scene.pending(.message("c", from: Person(id: "z"), id: "evt"))
        let late = try await scene.pending(.message("c", from: Person(id: "z"), at: 1, id: "late"))
        let groups = [scene.group(pending, to: [waiting]), scene.group(pending, to: [held], leased: true)]
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: groups, next: nil)]) == [true])
        let query = RecipientQuery(networkID: scene.network, eventID: late.id, event: late.event)
        #expect(try await scene.recipients.page(for: query).isDeleted == false)
        let before = try #require(try await scene.queue.refresh([groups[1]]).first)
        #expect(before.withdrawal == nil)
        let deletion = try await scene.pending(deletion())
        // What a replica holds is looked at again before it is sent, and who is still to be found is told nothing.
        #expect(try await scene.queue.changes(since: [(scene.network, before.readPoint)]) == [.everybody])
        #expect(try await scene.queue.refresh([groups[1]]).map(\.withdrawal) == [.deleted])
        #expect(try await scene.recipients.page(for: query).isDeleted)
        // What nobody holds is over when the deletion is expanded.
        #expect(try await scene.queue.enqueue([Expansion(event: deletion, groups: [], next: nil)]) == [true])
        let expired = try await scene.queue.claimExpired(limit: 10)
        #expect(expired.map(\.group.id) == [groups[0].id])
        #expect(expired.map(\.withdrawal) == [.deleted])
        #expect(try await scene.history.event(deletion.id, in: scene.network)?.state == .done)
    }

    @Test func `a message is deleted in its channel and network, until it is sent anew`() async throws {
        let target = try await scene.target("d", of: "a")
        let others = [deletion(of: "other"), deletion(in: "elsewhere")]
        for event in others { try await scene.accept(event) }
        _ = try await scene.inbox.accept([scene.incoming(deletion(), in: scene.otherNetwork)])
        let pending = try await scene.pending(.message("c", from: Person(id: "z"), id: "evt"))
        let group = scene.group(pending, to: [target], leased: true)
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: [group], next: nil)]) == [true])
        #expect(try await scene.queue.refresh([group]).map(\.withdrawal) == [nil])
        try await scene.accept(deletion())
        #expect(try await scene.queue.refresh([group]).map(\.withdrawal) == [.deleted])
        // What comes in the millisecond of the deletion is taken for the message that is gone.
        let deletedAt = WallClock.system.now()
        while WallClock.system.now() <= deletedAt { try await Task.sleep(for: .milliseconds(1)) }
        var anew = Event.message("c", from: Person(id: "z"), id: "anew")
        try await scene.passTime()
        anew.timestamp = WallClock.system.now() + .seconds(1)
        let again = try await scene.pending(anew)
        let query = RecipientQuery(networkID: scene.network, eventID: again.id, event: anew)
        #expect(try await scene.recipients.page(for: query).isDeleted == false)
        let second = scene.group(again, to: [target], leased: true)
        #expect(try await scene.queue.enqueue([Expansion(event: again, groups: [second], next: nil)]) == [true])
        #expect(try await scene.queue.refresh([second]).map(\.withdrawal) == [nil])
        // Known nowhere before, and not made by what is over in it.
        #expect(try await scene.directory.channel("elsewhere", in: scene.network) == nil)
    }

    @Test func `a dead letter of a withdrawn event is revived all the same`() async throws {
        let target = try await scene.target("d", of: "a")
        let event = try await scene.enqueue(to: [[target]])
        let claimed = try #require(try await scene.claim().first)
        let record = DeviceRecord(
            deviceID: "d",
            userID: "a",
            state: .dead,
            attempts: 1,
            reason: "refused",
            at: WallClock.system.now()
        )
        _ = try await scene.queue.settle([Settlement(group: claimed.group, records: [record], remainders: [])])
        #expect(try await scene.history.withdraw(event, in: scene.network))
        let letter = try #require(try await scene.history.deadLetters(in: scene.network, after: nil, limit: 1).first)
        try await scene.passTime()
        #expect(try await scene.history.retryDeadLetter(letter.id, in: scene.network))
        #expect(try await scene.claim().map(\.withdrawal) == [nil])
    }

    @Test func `what is unknown is not found`() async throws {
        let id = EventID(scene.ids.next())
        #expect(try await scene.history.event(id, in: scene.network) == nil)
        #expect(try await scene.history.event(sourceID: "none", in: scene.network) == nil)
        #expect(try await scene.history.deliveries(of: id, in: scene.network, after: nil, limit: 9) == nil)
        #expect(try await scene.history.events(in: scene.network, before: nil, limit: 9).isEmpty)
        #expect(try await scene.history.retryDeadLetter(scene.ids.next(), in: scene.network) == false)
        #expect(try await scene.history.deleteDeadLetter(scene.ids.next(), in: scene.network) == false)
    }

    @Test func `an event goes from accepted over delivering to done`() async throws {
        let sent = scene.incoming(.message("c", from: Person(id: "z"), id: "evt"))
        _ = try await scene.inbox.accept([sent])
        let accepted = try #require(try await scene.history.event(sent.id, in: scene.network))
        #expect(accepted.state == .accepted)
        #expect(accepted.sourceID == "evt")
        #expect(accepted.type == .messageSent)
        #expect(accepted.receivedAt == sent.receivedAt)
        #expect(try await scene.history.event(sourceID: "evt", in: scene.network) == accepted)
        #expect(try await scene.history.event(sent.id, in: scene.otherNetwork) == nil)
        var pending = try #require(try await scene.inbox.claimEvents(limit: 1).first)
        pending.tally.resolved = 1
        pending.tally.notified = 1
        let group = scene.group(pending, to: [try await scene.target("d", of: "b")])
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: [group], next: nil)]) == [true])
        let delivering = try #require(try await scene.history.event(sent.id, in: scene.network))
        #expect(delivering.state == .delivering)
        #expect(delivering.deliveries == .counts(pending: 1))
        _ = try await scene.queue.settle([.all(try await scene.claimOne(), .delivered)])
        let done = try #require(try await scene.history.event(sent.id, in: scene.network))
        #expect(done.state == .done)
        #expect(done.deliveries == .counts(delivered: 1))
        #expect(done.recipients == pending.tally)
    }

    @Test func `an event that notifies nobody is done`() async throws {
        var pending = try await scene.pending(.message("c", from: Person(id: "z")))
        pending.tally.resolved = 3
        pending.tally.suppressed = [.network: 0, .user: 1, .channel: 1]
        pending.tally.noDevice = 1
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: [], next: nil)]) == [true])
        let status = try #require(try await scene.history.event(pending.id, in: scene.network))
        #expect(status.state == .done)
        #expect(status.recipients == pending.tally)
        #expect(status.deliveries == .counts())
        #expect(
            try await scene.history.deliveries(of: pending.id, in: scene.network, after: nil, limit: 9)?.items == []
        )
    }

    @Test func `every device ends in one state, and the counts sum up`() async throws {
        var targets: [Target] = []
        for (number, user) in ["a", "b", "c", "e"].enumerated() {
            targets.append(try await scene.target("d\(number)", of: UserID(trusted: user)))
        }
        let event = try await scene.enqueue(to: [targets])
        let states: [DeliveryState] = [.delivered, .unregistered, .expired, .dead]
        let group = try await scene.claimOne()
        let records = zip(targets, states).map { $0.record($1, reason: "why") }
        _ = try await scene.queue.settle([Settlement(group: group, records: records, remainders: [])])
        let status = try #require(try await scene.history.event(event, in: scene.network))
        #expect(status.deliveries == .counts(delivered: 1, unregistered: 1, expired: 1, dead: 1))
        #expect(status.recipients.notified == 4)
        let deliveries = try #require(
            try await scene.history.deliveries(of: event, in: scene.network, after: nil, limit: 9)
        )
        // What has failed comes first.
        #expect(deliveries.items.map(\.record) == Array(records[1...] + records[...0]))
        #expect(deliveries.items.map(\.provider) == [.fcm, .fcm, .fcm, .fcm])
        let first = try await scene.history.deliveries(of: event, in: scene.network, after: nil, limit: 2)
        let second = try await scene.history.deliveries(of: event, in: scene.network, after: first?.next, limit: 1)
        #expect(second?.items.map(\.record.deviceID) == ["d3"])
        let third = try await scene.history.deliveries(of: event, in: scene.network, after: second?.next, limit: 1)
        #expect(third?.items.map(\.record.deviceID) == ["d0"])
        #expect(third?.next == nil)
    }

    @Test func `a device on its way is listed as pending with its attempts so far`() async throws {
        let target = try await scene.target("d", of: "b")
        let event = try await scene.enqueue(to: [[target]])
        let group = try await scene.claimOne()
        let rest = Remainder(targets: [target], attempt: 3, delay: .seconds(60))
        var settlement = Settlement(group: group, records: [], remainders: [rest])
        settlement.troubles = [target.deviceID: "503 ServiceUnavailable"]
        _ = try await scene.queue.settle([settlement])
        let deliveries = try await scene.history.deliveries(of: event, in: scene.network, after: nil, limit: 9)
        #expect(deliveries?.items.map(\.record.state) == [.pending])
        #expect(deliveries?.items.map(\.record.attempts) == [3])
        #expect(deliveries?.items.map(\.record.reason) == ["503 ServiceUnavailable"])
    }

    @Test func `a user all of whose devices a toggle stopped was not notified`() async throws {
        for countsDevices in [true, false] {
            try await checkStoppedUsers(scene, countsDevices: countsDevices)
        }
    }

    private func checkStoppedUsers(_ scene: StoreScene, countsDevices: Bool) async throws {
        let one = try await scene.target("d1", of: "stopped")
        let two = try await scene.target("d2", of: "stopped")
        let three = try await scene.target("d3", of: "partly")
        let four = try await scene.target("d4", of: "partly")
        let event = try await scene.enqueue(to: [[one, three], [two, four]], countsDevices: countsDevices)
        let groups = try await scene.claim().map(\.group)
        var stopped: [StoppedUser] = []
        for group in groups {
            let records = group.targets.map { target in
                target.deviceID == "d4"
                    ? target.record(.delivered) : target.record(.suppressed, reason: "channel: mutedUntil tomorrow")
            }
            let settlement = Settlement(group: group, records: records, remainders: [])
            stopped += try await scene.queue.settle([settlement]).stoppedUsers
        }
        #expect(stopped.map(\.level) == (countsDevices ? [.channel] : []))
        #expect(stopped.map(\.devices) == (countsDevices ? [[.fcm: 2]] : []))
        let status = try #require(try await scene.history.event(event, in: scene.network))
        #expect(status.state == .done)
        #expect(status.recipients.resolved == 2)
        #expect(status.recipients.notified == 1)
        #expect(status.recipients.suppressed == [.network: 0, .user: 0, .channel: 1])
        #expect(status.deliveries == .counts(delivered: 1, expired: 1))
        let deliveries = try await scene.history.deliveries(of: event, in: scene.network, after: nil, limit: 9)
        let states = deliveries?.items.sorted { $0.record.deviceID < $1.record.deviceID }.map(\.record.state)
        #expect(states == [.suppressed, .suppressed, .expired, .delivered])
    }

    @Test func `events are listed newest first, in pages, wherever they are`() async throws {
        var ids: [EventID] = []
        for number in 0..<6 {
            let event: Event =
                number % 2 == 0
                ? .message("c", from: Person(id: "z"), at: Int64(number))
                : .user(.userUpdated, Person(id: "z"), at: Int64(number))
            ids.append(try await scene.accept(event)[0])
        }
        let first = try await scene.history.events(in: scene.network, before: nil, limit: 4).map(\.id)
        #expect(first == Array(ids.reversed().prefix(4)))
        let rest = try await scene.history.events(in: scene.network, before: first.last, limit: 4).map(\.id)
        #expect(rest == Array(ids.reversed().suffix(2)))
        #expect(try await scene.history.events(in: scene.otherNetwork, before: nil, limit: 4).isEmpty)
    }

    @Test func `a dead letter tells what was given up`() async throws {
        let target = try await scene.target("d", of: "b")
        let event = try await scene.enqueue(to: [[target]])
        _ = try await scene.queue.settle([.all(try await scene.claimOne(), .dead, reason: "bad payload")])
        let letter = try #require(try await scene.history.deadLetters(in: scene.network, after: nil, limit: 9).first)
        #expect(letter.eventID == event)
        #expect(letter.eventType == .messageSent)
        #expect(letter.lane == Lane(networkID: scene.network, provider: .fcm, appID: "app"))
        #expect(letter.record == target.record(.dead, reason: "bad payload"))
        #expect(try await scene.history.deadLetters(in: scene.network, after: letter.id, limit: 9).isEmpty)
        #expect(try await scene.history.deadLetters(in: scene.otherNetwork, after: nil, limit: 9).isEmpty)
    }

    @Test func `a dead letter is revived once, with a new life`() async throws {
        let target = try await scene.target("d", of: "b")
        let event = try await scene.enqueue(to: [[target]])
        let group = try await scene.claimOne()
        _ = try await scene.queue.settle([.all(group, .dead)])
        let letter = try #require(try await scene.history.deadLetters(in: scene.network, after: nil, limit: 9).first)
        #expect(try await scene.history.retryDeadLetter(letter.id, in: scene.otherNetwork) == false)
        let revived = try await inParallel(8) { _ in
            try await scene.history.retryDeadLetter(letter.id, in: scene.network)
        }
        #expect(revived.count { $0 } == 1)
        let status = try #require(try await scene.history.event(event, in: scene.network))
        #expect(status.state == .delivering)
        #expect(status.deliveries == .counts(pending: 1))
        let again = try await scene.claimOne()
        #expect(again.attempt == 0)
        #expect(again.sent.push == group.sent.push)
        #expect(again.expiresAt > WallClock.system.now() + .seconds(86_000))
        #expect(again.targets == [target])
        _ = try await scene.queue.settle([.all(again, .delivered)])
        #expect(try await scene.history.event(event, in: scene.network)?.deliveries == .counts(delivered: 1))
        let deliveries = try await scene.history.deliveries(of: event, in: scene.network, after: nil, limit: 9)
        #expect(deliveries?.items.map(\.record.state) == [.delivered])
    }

    @Test func `a forgotten dead letter stays dead`() async throws {
        let event = try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
        _ = try await scene.queue.settle([.all(try await scene.claimOne(), .dead)])
        let letter = try #require(try await scene.history.deadLetters(in: scene.network, after: nil, limit: 9).first)
        #expect(try await scene.history.deleteDeadLetter(letter.id, in: scene.otherNetwork) == false)
        #expect(try await scene.history.deleteDeadLetter(letter.id, in: scene.network))
        #expect(try await scene.history.deleteDeadLetter(letter.id, in: scene.network) == false)
        #expect(try await scene.history.event(event, in: scene.network)?.deliveries == .counts(dead: 1))
    }
}

extension [DeliveryState: Int] {
    fileprivate static func counts(
        pending: Int = 0,
        delivered: Int = 0,
        unregistered: Int = 0,
        expired: Int = 0,
        dead: Int = 0
    ) -> Self {
        [.pending: pending, .delivered: delivered, .unregistered: unregistered, .expired: expired, .dead: dead]
    }
}
