import Testing

@testable import CarillonCore

@Suite struct TimeoutStreaksTests {
    private let lane = Lane(networkID: NetworkID(trusted: "acme"), provider: .fcm, appID: "com.acme.chat")

    private func areMany(_ outcomes: [Outcome]) -> Bool {
        var streaks = TimeoutStreaks()
        return streaks.count(outcomes.map { (Target.test("d-1"), $0) }, of: lane)
    }

    @Test func `what was not sent adds nothing to what is not answered in time, and does not end it`() {
        let late = Array(repeating: Outcome.timedOut(reason: "timeout"), count: 5)
        let unsent = Outcome.unsendable(reason: "payload too large")
        #expect(areMany(late + [unsent] + late))
        #expect(!areMany(late + [unsent] + late.dropLast()))
        #expect(!areMany(late + [.delivered(id: nil)] + late))
    }
}
