import Testing

@testable import CarillonCore

@Suite struct CircuitBreakerTests {
    private let start = ContinuousClock.now
    private let wallTime = Timestamp(milliseconds: 1000)

    private func admits(
        _ breaker: inout CircuitBreaker<ContinuousClock.Instant>,
        _ now: ContinuousClock.Instant
    ) -> Bool {
        breaker.admits(at: now)
    }

    @Test func `admits everything until it is opened`() {
        var breaker = CircuitBreaker<ContinuousClock.Instant>()
        #expect(admits(&breaker, start))
        #expect(admits(&breaker, start))
        #expect(breaker.opening == nil)
    }

    @Test func `refuses while open, then admits one probe`() {
        var breaker = CircuitBreaker<ContinuousClock.Instant>()
        breaker.open(at: start, wallTime: wallTime, retryAfter: .seconds(60), reason: "quota")
        #expect(!admits(&breaker, start + .seconds(59)))
        #expect(breaker.refuses(at: start + .seconds(59)))
        #expect(breaker.remaining(at: start + .seconds(20)) == .seconds(40))
        #expect(admits(&breaker, start + .seconds(60)))
        #expect(!admits(&breaker, start + .seconds(61)), "one probe at a time")
        #expect(breaker.opening == .init(since: wallTime, reason: "quota"))
    }

    @Test func `closes when the probe succeeds`() {
        var breaker = CircuitBreaker<ContinuousClock.Instant>()
        breaker.open(at: start, wallTime: wallTime, retryAfter: .seconds(1), reason: "quota")
        _ = breaker.admits(at: start + .seconds(1))
        breaker.succeeded()
        #expect(admits(&breaker, start + .seconds(1)))
        #expect(breaker.opening == nil)
    }

    @Test func `a probe that tells nothing lets the next one try`() {
        var breaker = CircuitBreaker<ContinuousClock.Instant>()
        breaker.open(at: start, wallTime: wallTime, retryAfter: .seconds(1), reason: "quota")
        _ = breaker.admits(at: start + .seconds(1))
        breaker.probeEnded(at: start + .seconds(2))
        #expect(admits(&breaker, start + .seconds(2)))
    }

    @Test func `pauses twice as long after each failed probe, and remembers since when`() {
        var breaker = CircuitBreaker<ContinuousClock.Instant>()
        var now = start
        var pauses: [Duration] = []
        for attempt in 0..<8 {
            breaker.open(at: now, wallTime: Timestamp(milliseconds: Int64(attempt)), retryAfter: nil, reason: "key")
            pauses.append(breaker.remaining(at: now) ?? .zero)
            now = now + pauses[attempt]
            #expect(admits(&breaker, now))
        }
        #expect(pauses == [15, 30, 60, 120, 240, 480, 600, 600].map { .seconds($0) })
        #expect(breaker.opening?.since == Timestamp(milliseconds: 0))
    }

    @Test func `a pause of a given length does not make the next ones longer`() {
        var breaker = CircuitBreaker<ContinuousClock.Instant>()
        var now = start
        var pauses: [Duration] = []
        for length: Duration? in [.seconds(60), .seconds(60), .seconds(60), nil, .seconds(60), nil] {
            breaker.open(at: now, wallTime: wallTime, retryAfter: length, reason: "brake")
            pauses.append(breaker.remaining(at: now) ?? .zero)
            now = now + (pauses.last ?? .zero)
            #expect(admits(&breaker, now))
        }
        #expect(pauses == [60, 60, 60, 15, 60, 30].map { .seconds($0) })
    }

    @Test func `the longest pause that was asked for counts`() {
        var breaker = CircuitBreaker<ContinuousClock.Instant>()
        breaker.open(at: start, wallTime: wallTime, retryAfter: .seconds(60), reason: "quota")
        breaker.open(at: start, wallTime: wallTime, retryAfter: .seconds(5), reason: "quota")
        #expect(breaker.remaining(at: start) == .seconds(60))
        breaker.open(at: start + .seconds(30), wallTime: wallTime, retryAfter: .seconds(90), reason: "quota")
        #expect(breaker.remaining(at: start + .seconds(30)) == .seconds(90))
    }

    @Test func `many failures of one pause count once`() {
        var breaker = CircuitBreaker<ContinuousClock.Instant>()
        for _ in 0..<500 { breaker.open(at: start, wallTime: wallTime, retryAfter: nil, reason: "key") }
        #expect(breaker.remaining(at: start) == .seconds(15))
    }
}
