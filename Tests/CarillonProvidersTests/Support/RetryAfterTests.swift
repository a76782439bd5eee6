import CarillonCore
import Testing

@testable import CarillonProviders

@Suite struct RetryAfterTests {
    /// 2015-10-21T07:28:00Z.
    private let now = Timestamp(milliseconds: 1_445_412_480_000)

    @Test(arguments: [
        "", "-1", "+1", "1.5", "1e3", "0x10", "soon", "１２０", "12 0", "120s", "Wed, 21 Oct 2015 07:28:00",
        "Wed, 32 Oct 2015 07:28:00 GMT", "Wed, 21 Foo 2015 07:28:00 GMT", "Wed, 21 Oct 2015 25:28:00 GMT",
        "Wed, 21 Oct 99999 07:28:00 GMT", "21 Oct 2015", "2015-10-21T07:28:00Z",
        String(repeating: "1", count: 65),
    ])
    func `does not understand`(value: String) {
        #expect(Duration(retryAfter: value, now: now) == nil)
    }

    @Test(arguments: [
        ("0", 0), ("120", 120), ("007", 7), ("86400", 86_400), ("86401", 86_400), ("1000000000000", 86_400),
        ("999999999999999999999999999999", 86_400),
        ("Wed, 21 Oct 2015 07:30:00 GMT", 120), ("Wednesday, 21-Oct-15 07:30:00 GMT", 120),
        ("Wed Oct 21 07:30:00 2015", 120), ("Wed, 21 Oct 2015 07:27:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0), ("Sun Nov  6 08:49:37 1994", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
    ])
    func `reads seconds and dates, and clamps them`(value: String, seconds: Int) {
        #expect(Duration(retryAfter: value, now: now) == .seconds(seconds))
    }
}
