import Testing

@testable import CarillonCore

@Suite struct LateBrakesTests {
    private let lane = Lane(networkID: NetworkID(trusted: "acme"), provider: .apns, appID: "app")

    @Test func `a lane is due after a second, once more after fifteen, and not again`() {
        var brakes = LateBrakes()
        let (now, since) = (ContinuousClock.now, WallClock.system.now())
        brakes.note(lane, since: since, at: now)
        #expect(brakes.takeDue(at: now).isEmpty)
        #expect(brakes.takeDue(at: now + .seconds(1)) == [lane: since])
        #expect(brakes.takeDue(at: now + .seconds(14)).isEmpty)
        #expect(brakes.takeDue(at: now + .seconds(15)) == [lane: since])
        #expect(brakes.takeDue(at: now + .seconds(3600)).isEmpty)
    }

    @Test func `a lane that is forgotten is not due`() {
        var brakes = LateBrakes()
        let (now, since) = (ContinuousClock.now, WallClock.system.now())
        let other = Lane(networkID: lane.networkID, provider: .apns, appID: "other")
        brakes.note(lane, since: since, at: now)
        brakes.note(other, since: since, at: now)
        brakes.forget([lane])
        #expect(brakes.takeDue(at: now + .seconds(20)) == [other: since])
    }
}
