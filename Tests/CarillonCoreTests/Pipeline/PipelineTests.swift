import CarillonTesting
import Postgres
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct PipelineTests {
    @Test func `an accepted event reaches every member's device once`() async throws {
        try await PipelineScene.run(members: 3) { scene in
            let status = try await scene.finished(try await scene.post())
            #expect(status.recipients.resolved == 3)
            #expect(status.recipients.notified == 3)
            #expect(status.deliveries[.delivered] == 3)
            let devices = scene.provider.devices.map(\.rawValue).sorted()
            #expect(devices == ["device of user-0", "device of user-1", "device of user-2"])
        }
    }

    @Test func `a thousand events of many requests are all delivered`() async throws {
        try await PipelineScene.run(members: 2) { scene in
            let ids = try await withThrowingTaskGroup(of: EventID.self) { group in
                for _ in 0..<1000 { group.addTask { try await scene.post() } }
                return try await group.reduce(into: [EventID]()) { $0.append($1) }
            }
            for id in ids {
                let status = try await scene.finished(id)
                #expect(status.deliveries[.delivered] == 2)
            }
            #expect(scene.provider.devices.count == 2000)
        }
    }

    @Test func `a failure is tried again until it works`() async throws {
        let provider = ScriptedProvider { _, attempt in
            attempt < 4 ? .retry(after: nil, reason: "http 503") : .delivered(id: "p")
        }
        try await PipelineScene.run(members: 1, provider: provider) { scene in
            let id = try await scene.post()
            #expect(try await scene.finished(id).deliveries[.delivered] == 1)
            let deliveries = try await scene.store.history.deliveries(
                of: id,
                in: scene.network,
                matching: DeliveryFilter(),
                after: nil,
                limit: 10
            )
            #expect(deliveries?.items.map(\.record.attempts) == [4])
            #expect(provider.devices.count == 4)
        }
    }

    @Test func `one bad device does not hold up the others of its group`() async throws {
        let provider = ScriptedProvider { target, attempt in
            target.userID.rawValue == "user-1" && attempt < 3 ? .retry(after: nil, reason: "x") : .delivered(id: nil)
        }
        try await PipelineScene.run(members: 3, provider: provider) { scene in
            let status = try await scene.finished(try await scene.post())
            #expect(status.deliveries[.delivered] == 3)
            #expect(provider.devices.count == 5)
        }
    }

    @Test func `a device that is gone is not sent to again`() async throws {
        let provider = ScriptedProvider { target, _ in
            target.userID.rawValue == "user-0" ? .unregister(at: nil, reason: "http 410") : .delivered(id: nil)
        }
        try await PipelineScene.run(members: 2, provider: provider) { scene in
            let first = try await scene.finished(try await scene.post())
            #expect(first.deliveries[.unregistered] == 1)
            let second = try await scene.finished(try await scene.post())
            #expect(second.recipients.noDevice == 1)
            #expect(second.recipients.notified == 1)
        }
    }

    @Test func `a switch flipped while deliveries wait is obeyed by those not yet sent`() async throws {
        let provider = ScriptedProvider(isOpen: false)
        try await PipelineScene.run(members: 1, provider: provider, limits: PipelineScene.fewAtATime) { scene in
            var ids: [EventID] = []
            for _ in 0..<PipelineScene.mostGroupsAtATime { ids.append(try await scene.post()) }
            try await eventually { provider.waiting == PipelineScene.mostGroupsAtATime }
            let late = try await scene.post()
            _ = try await eventually {
                try await scene.store.history.event(late, in: scene.network)?.state == .delivering ? true : nil
            }
            try await scene.store.toggles.set(.user("user-0"), to: ["enabled": false], in: scene.network)
            provider.open()
            let status = try await scene.finished(late)
            #expect(status.recipients.suppressed[.user] == 1)
            #expect(status.recipients.notified == 0)
            #expect(status.deliveries.values.allSatisfy { $0 == 0 })
            for id in ids {
                let status = try await scene.finished(id)
                #expect(status.deliveries[.delivered] == 1)
            }
            #expect(provider.devices.count == PipelineScene.mostGroupsAtATime)
        }
    }

    @Test func `what never can be accepted becomes a dead letter and can be sent again`() async throws {
        let broken = Flag(true)
        let provider = ScriptedProvider { _, _ in broken.isSet ? .bug(reason: "too big") : .delivered(id: nil) }
        try await PipelineScene.run(members: 1, provider: provider) { scene in
            let id = try await scene.post()
            #expect(try await scene.finished(id).deliveries[.dead] == 1)
            let letters = try await scene.store.history.deadLetters(in: scene.network, after: nil, limit: 10)
            let letter = try #require(letters.first)
            #expect(letter.record.reason == "too big")
            broken.clear()
            #expect(try await scene.store.history.reviveDeadLetter(letter.id, in: scene.network) != nil)
            let status = try await eventually {
                let status = try await scene.store.history.event(id, in: scene.network)
                return status?.deliveries[.delivered] == 1 && status?.state == .done ? status : nil
            }
            #expect(status.deliveries[.dead, default: 0] == 0)
        }
    }

    @Test func `a switch flipped between a claim and the sending is obeyed`() async throws {
        let broken = Flag(true)
        let provider = ScriptedProvider { _, _ in broken.isSet ? .bug(reason: "too big") : .delivered(id: nil) }
        try await PipelineScene.run(members: 1, provider: provider, limits: PipelineScene.fewAtATime) { scene in
            let dead = try await scene.finished(try await scene.post())
            broken.clear()
            provider.close()
            for _ in 0..<PipelineScene.mostGroupsAtATime { try await scene.post() }
            try await eventually { provider.waiting == PipelineScene.mostGroupsAtATime }
            let letters = try await scene.store.history.deadLetters(in: scene.network, after: nil, limit: 1)
            let letter = try #require(letters.first)
            _ = try await scene.store.history.reviveDeadLetter(letter.id, in: scene.network)
            _ = try await eventually { scene.queue.claimed.isEmpty ? nil : true }
            try await scene.store.toggles.set(.user("user-0"), to: ["enabled": false], in: scene.network)
            provider.open()
            let status = try await scene.finished(dead.id)
            #expect(status.deliveries.values.allSatisfy { $0 == 0 })
            #expect(provider.devices.count == 1 + PipelineScene.mostGroupsAtATime)
        }
    }

    @Test func `all deliveries that are over are recorded at once`() async throws {
        try await TimedDatabase.lend(from: WallClock.system.now()) { database in
            let store = database.stores
            let accepted = AcceptedIDs()
            let first = try PipelineScene(store: store)
            try await first.populate(members: 1)
            try await first.whileRunning([first.fanout]) {
                for _ in 0..<200 { accepted.add(try await first.post()) }
                for id in accepted.all {
                    _ = try await eventually {
                        try await store.history.event(id, in: first.network)?.state == .delivering ? true : nil
                    }
                }
            }
            try await database.advance(by: notificationTimeToLive + .seconds(3600))
            let second = try PipelineScene(store: store)
            // Its own claims would pass over what is being claimed here.
            try await second.whileRunning([second.lanes, second.settler, second.sender, second.fanout]) {
                await second.claimer.expireGroups()
                let left = try await store.queue.claimExpired(limit: 1, excluding: [])
                #expect(left.isEmpty, "more than a claim takes at a time")
                for id in accepted.all {
                    let status = try await second.finished(id)
                    #expect(status.deliveries[.expired] == 1)
                }
            }
            #expect(second.provider.devices.isEmpty)
        }
    }

    @Test func `what has waited for too long is not sent any more`() async throws {
        let provider = ScriptedProvider(isOpen: false)
        try await TimedDatabase.lend(from: WallClock.system.now()) { database in
            let scene = try PipelineScene(store: database.stores, provider: provider, limits: PipelineScene.fewAtATime)
            try await scene.populate(members: 1)
            try await scene.whileRunning {
                let places = PipelineScene.mostGroupsAtATime
                for _ in 0..<places { try await scene.post() }
                try await eventually { provider.waiting == places }
                // Events are received by the system's clock, however slow this machine is.
                let end = WallClock.system.now() + notificationTimeToLive
                try await database.advance(by: end - database.time.clock.now() - .milliseconds(200))
                let late = try await scene.post()
                _ = try await eventually {
                    try await scene.store.history.event(late, in: scene.network)?.state == .delivering ? true : nil
                }
                // The database's clock is asked once; from then on time is counted here.
                try await Task.sleep(for: .seconds(2))
                try await database.advance(by: .seconds(1))
                provider.open()
                let status = try await scene.finished(late)
                #expect(status.deliveries[.expired] == 1)
            }
        }
    }

    @Test func `nothing is lost while the database is away`() async throws {
        try await TimedDatabase.lend(from: WallClock.system.now()) { database in
            let scene = try PipelineScene(store: database.stores)
            try await scene.populate(members: 2)
            try await scene.whileRunning {
                var ids: [EventID] = []
                for round in 0..<5 {
                    for _ in 0..<20 { ids.append(try await scene.post()) }
                    database.answers(false)
                    await #expect(throws: PostgresError.self, "round \(round)") { try await scene.post() }
                    try await Task.sleep(for: .milliseconds(20))
                    database.answers(true)
                }
                for id in ids {
                    let status = try await scene.finished(id)
                    #expect(status.deliveries[.delivered] == 2)
                }
                #expect(scene.provider.devices.count == 200, "nobody died between an answer and its settling")
            }
        }
    }

    @Test func `a lane without a provider waits, says so, and delays nobody else`() async throws {
        let webhook = ScriptedProvider(name: .webhook)
        try await PipelineScene.run(members: 1, providers: [webhook]) { scene in
            let waits = try await scene.post()
            let lane = try await eventually { scene.lanes.statuses.first { $0.circuit == .open } }
            #expect(lane.lane.provider == .log)
            #expect(lane.reason == "no credential for log")
            let device = Device("hook", of: "user-0", .webhook(url: "https://example.com/hook"))
            _ = try await scene.store.devices.putDevice(device, in: scene.network)
            try await scene.post()
            try await eventually { webhook.devices == ["hook"] }
            let status = try await scene.store.history.event(waits, in: scene.network)
            #expect(status?.deliveries[.pending] == 1, "it waits and counts no attempt")
        }
    }

    @Test(.stores) func `a fan-out that is cancelled ends, and gives back what waits`() async throws {
        let scene = try PipelineScene(store: .here)
        try await scene.populate(members: 1)
        let worker = Task { try await scene.fanout.run() }
        worker.cancel()
        try await worker.value
    }

    @Test(.stores) func `what was in hand at a shutdown is finished by the next start`() async throws {
        let accepted = AcceptedIDs()
        let slow = ScriptedProvider()
        let first = try PipelineScene(store: .here, provider: slow)
        try await first.populate(members: 2)
        try await first.whileRunning {
            for _ in 0..<200 { accepted.add(try await first.post()) }
        }
        let second = try PipelineScene(store: .here, provider: slow)
        try await second.whileRunning {
            for id in accepted.all {
                let status = try await second.finished(id)
                #expect(status.deliveries[.delivered] == 2)
            }
        }
        #expect(slow.devices.count == 400, "a graceful shutdown sends nothing twice")
    }
}
