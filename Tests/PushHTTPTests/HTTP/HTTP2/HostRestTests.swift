import Testing

@testable import PushHTTP

@Suite struct HostRestTests {
    private let start = ContinuousClock.now

    @Test func `nobody rests who has done nothing`() {
        let rest = HostRest()
        #expect(rest.isOver(at: start))
        #expect(rest.isForgotten(at: start))
    }

    @Test func `each rest is twice as long as the one before, up to a minute`() {
        var rest = HostRest()
        var now = start
        for length in [1, 2, 4, 8, 16, 32, 60, 60] {
            rest.begin(at: now)
            #expect(!rest.isOver(at: now + .seconds(length) - .nanoseconds(1)))
            now += .seconds(length)
            #expect(rest.isOver(at: now))
            #expect(!rest.isForgotten(at: now))
        }
    }

    @Test func `what happens in a rest does not lengthen it`() {
        var rest = HostRest()
        rest.begin(at: start)
        rest.begin(at: start + .milliseconds(900))
        #expect(rest.isOver(at: start + .seconds(1)))
    }

    @Test func `who has behaved for a minute begins with a second again`() {
        var rest = HostRest()
        rest.begin(at: start)
        rest.begin(at: start + .seconds(1))
        let peace = start + .seconds(1 + 2 + 60)
        #expect(rest.isForgotten(at: peace))
        rest.begin(at: peace)
        #expect(rest.isOver(at: peace + .seconds(1)))
    }
}
