import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

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
