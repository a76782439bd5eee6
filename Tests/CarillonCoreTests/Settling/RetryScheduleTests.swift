import Testing

@testable import CarillonCore

@Suite struct RetryScheduleTests {
    @Test(arguments: [(1, 1), (2, 5), (3, 30), (4, 120), (5, 600), (6, 3600), (60, 3600)])
    func `waits longer after each failure, then hourly`(failures: Int, seconds: Int) {
        #expect(RetrySchedule().delay(afterFailures: failures, retryAfter: nil, random: 0) == .seconds(seconds))
    }

    @Test(arguments: [-1.0, 1.0])
    func `varies by a fifth either way`(random: Double) {
        let delay = RetrySchedule().delay(afterFailures: 3, retryAfter: nil, random: random)
        #expect(delay == .seconds(30) * (1 + 0.2 * random))
    }

    @Test func `never comes back before the time that the push service named`() {
        let schedule = RetrySchedule()
        #expect(schedule.delay(afterFailures: 1, retryAfter: .seconds(120), random: -1) == .seconds(120))
        #expect(schedule.delay(afterFailures: 4, retryAfter: .seconds(1), random: 0) == .seconds(120))
        #expect(schedule.delay(afterFailures: 1, retryAfter: .seconds(1_000_000), random: 0) == .seconds(86_400))
    }
}
