import CarillonCore
import Testing

@testable import CarillonProviders

@Suite struct FailureStreakTests {
    private static let timeout = Outcome.timedOut(reason: "timeout")
    private static let refusal = Outcome.retry(after: nil, reason: "http 500")

    @Test func `ten devices in a row whose server does not answer are enough`() {
        let streak = FailureStreak()
        for _ in 0..<9 { streak.note(deviceWith: Self.timeout) }
        #expect(!streak.isLong)
        streak.note(deviceWith: Self.timeout)
        #expect(streak.isLong)
        streak.note(deviceWith: .delivered(id: nil))
        #expect(streak.isLong, "that was on its way when it was too late")
    }

    @Test(arguments: [refusal, .delivered(id: nil), .unregister(at: nil, reason: "http 410")])
    func `a server that answers any device is one that answers`(answer: Outcome) {
        let streak = FailureStreak()
        for _ in 0..<3 {
            for _ in 0..<9 { streak.note(deviceWith: Self.timeout) }
            streak.note(deviceWith: answer)
            streak.note(deviceWith: .unsendable(reason: "not a webhook"))
        }
        #expect(!streak.isLong)
    }

    @Test func `ten messages in a row that an endpoint does not take are enough, and one that it is gone`() {
        let streak = FailureStreak()
        for _ in 0..<10 { streak.note(messageWith: Self.refusal) }
        #expect(streak.isLong)
        let gone = FailureStreak()
        gone.note(messageWith: .unregister(at: nil, reason: "http 410"))
        #expect(gone.isLong)
    }
}
