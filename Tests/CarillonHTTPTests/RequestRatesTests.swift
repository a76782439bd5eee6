import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite struct RequestRatesTests {
    @Test func `everybody has a bucket of their own`() throws {
        let time = ManualTime(.seconds(0))
        let rates = RequestRates(now: time.monotonic)
        for _ in 0..<10 { try rates.take(from: .user("acme", "alice"), rate: 1) }
        #expect(throws: Problem.self) { try rates.take(from: .user("acme", "alice"), rate: 1) }
        for owner in [.user("acme", "bob"), .user("other", "alice"), .key("acme", "alice"), .events("acme")]
            as [RequestRates.Owner]
        {
            try rates.take(from: owner, rate: 1)
        }
        #expect(rates.count == 5)
    }

    @Test func `what is too much is 429 with the seconds to wait`() throws {
        let time = ManualTime(.seconds(0))
        let rates = RequestRates(now: time.monotonic)
        try rates.take(40, from: .events("acme"), rate: 4)
        let problem = #expect(throws: Problem.self) { try rates.take(7, from: .events("acme"), rate: 4) }
        #expect(problem?.status == .tooManyRequests)
        #expect(problem?.headers[.retryAfter] == "2")
        time.advance(by: .seconds(2))
        try rates.take(7, from: .events("acme"), rate: 4)
    }

    @Test func `what faces count has a bucket for each subscriber and for each thing`() throws {
        let rates = RequestRates(now: { [start = ContinuousClock.now] in start })
        let rate = RequestRates.Rate("posts", perSecond: 1, burst: 2)
        let addresses = try ["192.0.2.1", "2001:db8::1", "2001:db8::2"].map { try #require(IPAddress($0)) }
        for address in addresses { try rates.take(of: rate, at: .matrix, from: address) }
        #expect(rates.count == 2, "one subscriber may have any number of addresses")
        #expect(throws: Problem.self) { try rates.take(of: rate, at: .matrix, from: addresses[2]) }
        try rates.take(of: rate, at: .ably, from: addresses[2])
        try rates.take(2, of: rate, at: .matrix, about: "a", in: "acme")
        #expect(throws: Problem.self) { try rates.take(of: rate, at: .matrix, about: "a", in: "acme") }
        try rates.take(of: rate, at: .matrix, about: "a", in: "other")
        try rates.take(of: rate, at: .matrix, about: "b", in: "acme")
    }

    @Test func `what is given back can be taken again, and no more than was taken`() throws {
        let time = ManualTime(.seconds(0))
        let rates = RequestRates(now: time.monotonic)
        let rate = RequestRates.Rate("things", perSecond: 1, burst: 2)
        let address = try #require(IPAddress("192.0.2.1"))
        rates.giveBack(rate, at: .matrix, from: address)
        #expect(rates.count == 0)
        try rates.take(of: rate, at: .matrix, from: address)
        for _ in 0..<3 { rates.giveBack(rate, at: .matrix, from: address) }
        try rates.take(2, of: rate, at: .matrix, from: address)
        #expect(throws: Problem.self) { try rates.take(of: rate, at: .matrix, from: address) }
        rates.giveBack(rate, at: .matrix, from: address)
        try rates.take(of: rate, at: .matrix, from: address)
        #expect(throws: Problem.self) { try rates.take(of: rate, at: .matrix, from: address) }
    }

    @Test func `looking makes no bucket`() throws {
        let rates = RequestRates()
        #expect(rates.wait(of: .events("acme"), rate: 1) == nil)
        #expect(rates.count == 0)
    }

    @Test func `however many there are, so many are remembered, those who asked for most first`() throws {
        let time = ManualTime(.seconds(0))
        let rates = RequestRates(capacity: 100, now: time.monotonic)
        try rates.take(10, from: .user("acme", "greedy"), rate: 1)
        for number in 0..<10_000 {
            try rates.take(from: .user("acme", UserID(trusted: "user-\(number)")), rate: 1)
            #expect(rates.count <= 100)
        }
        #expect(throws: Problem.self) { try rates.take(from: .user("acme", "greedy"), rate: 1) }
    }

    @Test func `what is full again is forgotten first`() throws {
        let time = ManualTime(.seconds(0))
        let rates = RequestRates(capacity: 10, now: time.monotonic)
        for number in 0..<9 { try rates.take(2, from: .user("acme", UserID(trusted: "user-\(number)")), rate: 1) }
        time.advance(by: .seconds(5))
        try rates.take(from: .user("acme", "late"), rate: 1)
        try rates.take(from: .user("acme", "later"), rate: 1)
        #expect(rates.count == 2)
    }
}

@Suite struct TokenBucketTests {
    @Test func `there is ten seconds' worth at once, and then the rate`() {
        var bucket = TokenBucket(at: .zero)
        for _ in 0..<50 { #expect(bucket.take(1, rate: 5, at: .zero) == nil) }
        #expect(bucket.take(1, rate: 5, at: .zero) == .milliseconds(200))
        #expect(bucket.take(1, rate: 5, at: .milliseconds(199)) != nil)
        #expect(bucket.take(1, rate: 5, at: .milliseconds(200)) == nil)
        #expect(bucket.take(1, rate: 5, at: .milliseconds(200)) != nil)
        for _ in 0..<5 { #expect(bucket.take(1, rate: 5, at: .milliseconds(1200)) == nil) }
        #expect(bucket.take(1, rate: 5, at: .milliseconds(1200)) != nil)
    }

    @Test func `a silence fills it, and no more than that`() {
        var bucket = TokenBucket(at: .zero)
        #expect(bucket.take(20, rate: 2, at: .zero) == nil)
        #expect(bucket.fullness(at: .zero) == 0)
        #expect(bucket.fullness(at: .seconds(5)) == 0.5)
        #expect(bucket.fullness(at: .seconds(100_000)) == 1)
        for _ in 0..<20 { #expect(bucket.take(1, rate: 2, at: .seconds(100_000)) == nil) }
        #expect(bucket.take(1, rate: 2, at: .seconds(100_000)) != nil)
    }

    @Test func `more than it holds is given when it is full, and waited for afterwards`() {
        var bucket = TokenBucket(at: .zero)
        #expect(bucket.take(1, rate: 1, at: .zero) == nil)
        #expect(bucket.take(1000, rate: 1, at: .zero) == .seconds(1))
        #expect(bucket.take(1000, rate: 1, at: .seconds(1)) == nil)
        #expect(bucket.take(1, rate: 1, at: .seconds(1)) == .seconds(991))
        #expect(bucket.take(1, rate: 1, at: .seconds(992)) == nil)
    }

    @Test func `it holds as much as is said, which comes back at the same rate`() {
        var bucket = TokenBucket(at: .zero)
        for _ in 0..<60 { #expect(bucket.take(1, rate: 10, burst: 60, at: .zero) == nil) }
        #expect(bucket.take(1, rate: 10, burst: 60, at: .zero) == .milliseconds(100))
        #expect(bucket.fullness(at: .seconds(3)) == 0.5)
        #expect(bucket.fullness(at: .seconds(6)) == 1)
        var small = TokenBucket(at: .zero)
        #expect(small.take(1, rate: 100, burst: 1, at: .zero) == nil)
        #expect(small.take(1, rate: 100, burst: 1, at: .zero) == .milliseconds(10))
    }

    @Test func `what does not fit takes nothing`() {
        var bucket = TokenBucket(at: .zero)
        #expect(bucket.take(8, rate: 1, at: .zero) == nil)
        for _ in 0..<100 { #expect(bucket.take(3, rate: 1, at: .zero) == .seconds(1)) }
        #expect(bucket.take(2, rate: 1, at: .zero) == nil)
    }

    @Test func `looking whether there is one takes none`() {
        var bucket = TokenBucket(at: .zero)
        for _ in 0..<9 { _ = bucket.take(1, rate: 1, at: .zero) }
        for _ in 0..<5 { #expect(bucket.wait(rate: 1, at: .zero) == nil) }
        #expect(bucket.take(1, rate: 1, at: .zero) == nil)
        #expect(bucket.wait(rate: 1, at: .zero) == .seconds(1))
    }

    @Test func `another rate holds from the moment it is known`() {
        var bucket = TokenBucket(at: .zero)
        #expect(bucket.take(1, rate: 1, at: .zero) == nil)
        #expect(bucket.take(9, rate: 1, at: .zero) == nil)
        #expect(bucket.take(1, rate: 1, at: .zero) == .seconds(1))
        #expect(bucket.take(100, rate: 100, at: .seconds(1)) == nil)
    }

    @Test func `a time before the last is taken for the last`() {
        var bucket = TokenBucket(at: .seconds(100))
        #expect(bucket.take(10, rate: 1, at: .seconds(100)) == nil)
        #expect(bucket.take(1, rate: 1, at: .zero) == .seconds(1))
        #expect(bucket.take(1, rate: 1, at: .seconds(101)) == nil)
    }
}
