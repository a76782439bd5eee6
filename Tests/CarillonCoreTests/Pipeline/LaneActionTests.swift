import CarillonTesting
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct LaneActionTests {
    /// Runs a scene whose lane was paused before its start, for no time, and that knows it.
    private func runBehindPause(
        members: Int,
        _ provider: ScriptedProvider = ScriptedProvider(),
        _ body: @Sendable @escaping (PipelineScene, LaneSelection) async throws -> Void
    ) async throws {
        try await StoreScene.withStores { store, _ in
            let scene = try PipelineScene(store: store, provider: provider)
            try await scene.populate(members: members)
            let lane = LaneSelection(Lane(networkID: scene.network, provider: .log, appID: ""))
            _ = try await store.queue.apply(.pause(for: .zero, reason: "down"), to: lane)
            await scene.lanes.learn()
            try await scene.whileRunning { try await body(scene, lane) }
        }
    }

    @Test func `what waits for a credential goes out as soon as there is one`() async throws {
        let isMissing = Flag(true)
        let provider = ScriptedProvider { _, _ in
            isMissing.isSet ? .deferLane(after: .seconds(3600), reason: "no credential") : .delivered(id: nil)
        }
        try await PipelineScene.run(members: 2, provider: provider) { scene in
            let id = try await scene.post()
            let lane = try await eventually { scene.lanes.statuses.first { $0.circuit == .open } }.lane
            isMissing.clear()
            await scene.changeCredential(
                of: LaneSelection(networkID: lane.networkID, provider: lane.provider, appID: nil)
            )
            let status = try await scene.finished(id)
            #expect(status.deliveries[.delivered] == 2)
            try await eventually { scene.lanes.statuses.allSatisfy { $0.circuit == .closed } }
        }
    }

    @Test func `what waits for a credential is tried when the same is stored once more`() async throws {
        let isBroken = Flag(true)
        let provider = ScriptedProvider { _, _ in
            isBroken.isSet ? .misconfigured(reason: "403 InvalidProviderToken") : .delivered(id: nil)
        }
        try await PipelineScene.run(members: 2, provider: provider) { scene in
            let id = try await scene.post()
            let lane = try await eventually { scene.lanes.statuses.first { $0.circuit == .open } }.lane
            isBroken.clear()
            await scene.lanes.credentialConfirmed(LaneSelection(lane))
            #expect(try await scene.finished(id).deliveries[.delivered] == 2)
        }
    }

    @Test func `a paused lane that another replica tries is left to it`() async throws {
        try await runBehindPause(members: 2) { scene, lane in
            // The other replica's trial is not known here yet.
            _ = try await scene.store.queue.apply(.probing, to: lane)
            let id = try await scene.post()
            let waiting = try await eventually { try await scene.waiting(of: id, for: "down") }
            #expect(waiting.count == 2 && scene.provider.devices.isEmpty)
            _ = try await scene.store.queue.apply(.resume, to: lane)
            await scene.lanes.learn()
            try await scene.store.queue.makeDue(lane, excluding: [])
            #expect(try await scene.finished(id).deliveries[.delivered] == 2)
        }
    }

    @Test func `a lane whose pause was over before the start is tried with one device`() async throws {
        let provider = ScriptedProvider { _, _ in .misconfigured(reason: "403") }
        try await runBehindPause(members: 9, provider) { scene, _ in
            let id = try await scene.post()
            try await eventually { try await scene.waiting(of: id, for: "403")?.count == 9 }
            #expect(provider.devices.count == 1)
        }
    }

    @Test func `what cannot be sent to a device says nothing of its lane, which the next one tries`() async throws {
        let isFirst = Flag(true)
        let provider = ScriptedProvider { _, _ in
            defer { isFirst.clear() }
            return isFirst.isSet ? .unsendable(reason: "blocked URL", isOfDevice: true) : .misconfigured(reason: "403")
        }
        try await runBehindPause(members: 9, provider) { scene, _ in
            let id = try await scene.post()
            try await eventually { try await scene.waiting(of: id, for: "403")?.count == 8 }
            #expect(provider.devices.count == 2)
        }
    }

    @Test
    func `nor does a notification that cannot be sent to anybody, and another one is let out at once`() async throws {
        let isTooLong = Flag(true)
        let provider = ScriptedProvider { _, _ in
            isTooLong.isSet ? .unsendable(reason: "payload too large") : .delivered(id: nil)
        }
        try await runBehindPause(members: 50, provider) { scene, _ in
            for _ in 0..<2 {
                #expect(try await scene.finished(try await scene.post()).deliveries[.dead] == 50)
                #expect(scene.lanes.statuses.map(\.circuit) == [.open])
            }
            #expect(scene.queue.laneChanges.reduce(0, +) < 50, "a group is one try, however many cannot be sent")
            isTooLong.clear()
            #expect(try await scene.finished(try await scene.post()).deliveries[.delivered] == 50)
            try await eventually { scene.lanes.statuses.allSatisfy { $0.circuit == .closed } }
        }
    }

    @Test func `a device that is gone tells that its lane works again`() async throws {
        let isFirst = Flag(true)
        let provider = ScriptedProvider { _, _ in
            defer { isFirst.clear() }
            return isFirst.isSet ? .unregister(at: nil, reason: "410") : .delivered(id: nil)
        }
        try await runBehindPause(members: 3, provider) { scene, _ in
            let status = try await scene.finished(try await scene.post())
            #expect(status.deliveries[.delivered] == 2 && status.deliveries[.unregistered] == 1)
            try await eventually { scene.lanes.statuses.allSatisfy { $0.circuit == .closed } }
        }
    }

    @Test func `a paused lane keeps no other one from being made due again`() async throws {
        try await PipelineScene.run { scene in
            let all = LaneSelection(networkID: scene.network, provider: .fcm, appID: nil)
            await scene.lanes.credentialChanged(all)
            let paused = Lane(networkID: scene.network, provider: .fcm, appID: "paused")
            _ = scene.lanes.pause(paused, for: .seconds(60), reason: "429", at: WallClock.system.now())
            _ = try await eventually { scene.queue.madeDue.first { $0.lanes == all && $0.excluded == [paused] } }
        }
    }

    @Test func `a mass unregistration is held until an admin lets it happen`() async throws {
        let provider = ScriptedProvider { _, attempt in
            attempt == 1 ? .retry(after: nil, reason: "503") : .unregister(at: nil, reason: "410 Unregistered")
        }
        let never = Duration.seconds(3600)
        try await PipelineScene.run(members: 60, provider: provider, settleInterval: never) { scene in
            let id = try await scene.post()
            let paused = try await eventually { scene.lanes.statuses.first { $0.circuit == .open } }
            let reason = "brake: 60 of 60 devices reported as gone"
            #expect(paused.reason == reason)
            let waiting = try await eventually { try await scene.waiting(of: id, for: reason) }
            #expect(waiting.count == 60)
            #expect(waiting.allSatisfy { $0.record.attempts == 1 }, "being held is no attempt")
            let device = try await scene.store.devices.device("device of user-7", in: scene.network)
            #expect(device?.state == .active)
            let end = WallClock.system.now() + .seconds(3600)
            try await scene.lanes.believe(paused.lane, until: end)
            let status = try await scene.finished(id)
            #expect(status.deliveries[.unregistered] == 60)
        }
    }

    @Test func `what was unregistered before the brake went on is used again`() async throws {
        let provider = ScriptedProvider { target, attempt in
            let number = Int(target.userID.rawValue.dropFirst("user-".count)) ?? 0
            return number < 15 || attempt > 1
                ? .unregister(at: nil, reason: "410 Unregistered") : .retry(after: nil, reason: "503")
        }
        let never = Duration.seconds(3600)
        try await PipelineScene.run(members: 100, provider: provider, settleInterval: never) { scene in
            let id = try await scene.post()
            _ = try await eventually {
                let status = try await scene.store.history.event(id, in: scene.network)
                return status?.deliveries[.unregistered] == 15 ? true : nil
            }
            _ = try await eventually { scene.lanes.statuses.first { $0.circuit == .open } }
            for number in [0, 14] {
                let device = try await eventually {
                    let device = try await scene.store.devices.device("device of user-\(number)", in: scene.network)
                    return device?.state == .active ? device : nil
                }
                #expect(device.error == nil)
            }
        }
    }

    @Test func `what was unregistered shortly before the credential changed is used again`() async throws {
        let provider = ScriptedProvider { _, _ in .unregister(at: nil, reason: "410 Unregistered") }
        try await PipelineScene.run(members: 3, provider: provider) { scene in
            let status = try await scene.finished(try await scene.post())
            #expect(status.deliveries[.unregistered] == 3)
            await scene.changeCredential(of: .init(networkID: scene.network, provider: .log, appID: nil))
            try await eventually("it is taken back into use") {
                let device = try await scene.store.devices.device("device of user-1", in: scene.network)
                return device?.state == .active
            }
        }
    }

    @Test func `answers to a credential that has been replaced are not believed`() async throws {
        let provider = ScriptedProvider(isOpen: false) { _, attempt in
            attempt == 1 ? .unregister(at: nil, reason: "410 Unregistered") : .delivered(id: nil)
        }
        try await PipelineScene.run(members: 3, provider: provider) { scene in
            let id = try await scene.post()
            try await eventually { provider.waiting > 0 }
            await scene.changeCredential(of: .init(networkID: scene.network, provider: .log, appID: nil))
            provider.open()
            let status = try await scene.finished(id)
            #expect(status.deliveries[.delivered] == 3)
        }
    }

    @Test func `where others go through, only what is held waits`() async throws {
        let provider = ScriptedProvider { target, _ in
            let number = Int(target.userID.rawValue.dropFirst("user-".count)) ?? 0
            return number < 60 ? .quarantine(reason: "400 BadDeviceToken") : .delivered(id: nil)
        }
        let never = Duration.seconds(3600)
        try await PipelineScene.run(members: 130, provider: provider, settleInterval: never) { scene in
            let reason = "brake: 60 of 130 devices reported as gone"
            let first = try await scene.post()
            let waiting = try await eventually { try await scene.waiting(of: first, for: reason) }
            #expect(waiting.count == 60)
            #expect(try await scene.store.history.event(first, in: scene.network)?.deliveries[.delivered] == 70)
            try await eventually { scene.lanes.statuses.allSatisfy { $0.circuit == .closed } }
            let second = try await scene.post()
            _ = try await eventually {
                let status = try await scene.store.history.event(second, in: scene.network)
                return status?.deliveries[.delivered] == 70 ? true : nil
            }
        }
    }
}

extension PipelineScene {
    /// Does what the service does when a credential is replaced.
    fileprivate func changeCredential(of selection: LaneSelection) async {
        outcomes.credentialChanged(selection)
        await lanes.credentialChanged(selection)
    }

    /// What waits of an event for this reason; `nil` when nothing does.
    fileprivate func waiting(of id: EventID, for reason: String) async throws -> [DeliveryStatus]? {
        let page = try await store.history.deliveries(
            of: id,
            in: network,
            matching: DeliveryFilter(),
            after: nil,
            limit: 1000
        )
        let waiting = (page?.items ?? []).filter { $0.record.state == .pending && $0.record.reason == reason }
        return waiting.isEmpty ? nil : waiting
    }
}
