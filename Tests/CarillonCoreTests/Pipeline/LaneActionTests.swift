import CarillonTesting
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct LaneActionTests {
    @Test func `what waits for a credential goes out as soon as there is one`() async throws {
        let isMissing = Flag(true)
        let provider = ScriptedProvider { _, _ in
            isMissing.isSet ? .deferLane(after: .seconds(3600), reason: "no credential") : .delivered(id: nil)
        }
        try await PipelineScene.run(members: 2, provider: provider) { scene in
            let id = try await scene.post()
            let lane = try await eventually { scene.dispatcher.laneStatuses.first { $0.circuit == .open } }.lane
            isMissing.clear()
            await scene.dispatcher.credentialChanged(in: lane.networkID, provider: lane.provider, appID: nil)
            let status = try await scene.finished(id)
            #expect(status.deliveries[.delivered] == 2)
            #expect(scene.dispatcher.laneStatuses.allSatisfy { $0.circuit == .closed })
        }
    }

    @Test func `a mass unregistration is held until an admin lets it happen`() async throws {
        let provider = ScriptedProvider { _, _ in .unregister(at: nil, reason: "410 Unregistered") }
        try await PipelineScene.run(members: 60, provider: provider) { scene in
            let id = try await scene.post()
            let paused = try await eventually { scene.dispatcher.laneStatuses.first { $0.circuit == .open } }
            #expect(paused.reason == "brake: 60 of 60 devices reported as gone within 5 minutes")
            let device = try await scene.store.device("device of user-7", in: scene.network)
            #expect(device?.state == .active)
            #expect(try await scene.store.event(id, in: scene.network)?.deliveries[.pending] == 60)
            let end = WallClock.system.now() + .seconds(3600)
            try await scene.dispatcher.releaseBrake(of: paused.lane, until: end)
            let status = try await scene.finished(id)
            #expect(status.deliveries[.unregistered] == 60)
        }
    }
}
