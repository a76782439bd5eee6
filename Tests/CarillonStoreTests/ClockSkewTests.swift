import CarillonCore
import Testing

@testable import CarillonStore

@Suite struct ClockSkewTests {
    private func skew(ahead: Int64, roundTrip: Int64 = 0) -> ClockSkew {
        let before = Timestamp(milliseconds: 1_000_000)
        let after = before + .milliseconds(roundTrip)
        let middle = before + .milliseconds(roundTrip / 2)
        return ClockSkew(before: before, database: middle + .milliseconds(ahead), after: after)
    }

    @Test func `half of the round trip is taken off`() {
        #expect(skew(ahead: 0, roundTrip: 400).milliseconds == 0)
        #expect(skew(ahead: -70, roundTrip: 400).milliseconds == -70)
    }

    @Test(arguments: [(500, 0, false), (501, 0, true), (-501, 0, true), (600, 300, false), (700, 300, true)])
    func `what is surely more than half a second is too large`(ahead: Int64, roundTrip: Int64, isTooLarge: Bool) {
        #expect(skew(ahead: ahead, roundTrip: roundTrip).isTooLarge == isTooLarge)
    }

    @Test func `says which clock is ahead`() {
        #expect(skew(ahead: 700).description == "this machine's clock is 700 ms behind PostgreSQL's")
        #expect(skew(ahead: -800).description == "this machine's clock is 800 ms ahead of PostgreSQL's")
    }
}
