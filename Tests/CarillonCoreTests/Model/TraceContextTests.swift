import Testing

@testable import CarillonCore

/// What a `traceparent` says (W3C Trace Context).
@Suite struct TraceContextTests {
    private static let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test(arguments: [
        (header, header),
        (
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        ),
        (
            "00-00000000000000000000000000000001-0000000000000001-03",
            "00-00000000000000000000000000000001-0000000000000001-03"
        ),
        (
            "00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-02",
            "00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-02"
        ),
        // Flags that mean nothing yet.
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fd", header),
        // Later versions, as far as this one knows them.
        ("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", header),
        ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-brings", header),
    ])
    func `a header is read, and written as this version writes it`(text: String, written: String) throws {
        let trace = try #require(TraceContext(text))
        #expect(trace.header == written)
        #expect(trace.traceID == String(written.dropFirst(3).prefix(32)))
        #expect(TraceContext(trace.header) == trace)
    }

    @Test(arguments: [
        "", "00", String(header.dropLast()), header + "0", header + "-00", " " + header, header + " ",
        header + ", " + header,
        // No trace, and no parent.
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        // No version, and none that there may be.
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        // Capitals, and what is no digit.
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-+0f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-é",
        // Dashes in other places.
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "004bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
    ])
    func `whatever is no header is as good as none`(text: String) {
        #expect(TraceContext(text) == nil)
    }

    @Test func `what is sent on has the same trace and flags, and a parent of its own`() throws {
        let trace = try #require(TraceContext(Self.header))
        #expect(trace.next(0xA).header == "00-4bf92f3577b34da6a3ce929d0e0e4736-000000000000000a-01")
        let parents = (0..<100).map { _ in trace.next() }
        #expect(Set(parents.map(\.header)).count == 100 && !parents.contains(trace))
        for next in parents { #expect(TraceContext(next.header) == next && next.traceID == trace.traceID) }
    }
}
