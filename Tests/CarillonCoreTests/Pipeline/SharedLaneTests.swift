import CarillonTesting
import Testing

@testable import CarillonCore

/// Two replicas on one database.
@Suite(.timeLimit(.minutes(2))) struct SharedLaneTests {
    @Test func `what waits behind a full lane is sent by a replica that nobody posts to, and each once`() async throws {
        try await StoreScene.withStores { store, _ in
            let (busy, idle) = (ScriptedProvider(isOpen: false), ScriptedProvider())
            let one = try PipelineScene(store: store, provider: busy, limits: PipelineScene.fewAtATime)
            let two = try PipelineScene(
                store: try StoreScene(pool: store.pool),
                provider: idle,
                limits: PipelineScene.fewAtATime
            )
            try await one.populate(members: 1)
            try await one.whileRunning {
                try await two.whileRunning {
                    var events: [EventID] = []
                    for _ in 0..<PipelineScene.mostGroupsAtATime { events.append(try await one.post()) }
                    try await eventually { busy.waiting == PipelineScene.mostGroupsAtATime }
                    for _ in 0..<100 { events.append(try await one.post()) }
                    // Forty at the most wait in memory where nobody knows yet how long they will.
                    try await eventually { idle.devices.count >= 60 }
                    busy.open()
                    for event in events { #expect(try await one.finished(event).deliveries[.delivered] == 1) }
                    #expect(busy.devices.count + idle.devices.count == events.count)
                }
            }
        }
    }
}
