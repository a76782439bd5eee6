import CarillonClient
import Foundation
import HTTPTypes
import Testing

@Suite struct RetryTests {
    private let time = ManualTime()

    @Test(arguments: [URLError.Code.networkConnectionLost, .notConnectedToInternet, .timedOut, .cannotFindHost])
    func `tries again what got no answer, after waits that double`(code: URLError.Code) async throws {
        let transport = ScriptedTransport(.fail(code), .fail(code), .fail(code), .answer(200, Documents.channel))
        _ = try await client(transport).channel("general").settings()
        #expect(await transport.sent.count == 4)
        #expect(time.waits == [.milliseconds(375), .milliseconds(750), .milliseconds(1500)])
    }

    @Test(arguments: [408, 429, 502, 503, 504])
    func `tries again what may pass, and throws the last answer after the fourth`(status: Int) async throws {
        let transport = ScriptedTransport(.answer(status, Documents.problem("service-unavailable", status)))
        let error = await #expect(throws: CarillonError.self) { try await client(transport).unregister("d") }
        #expect(await transport.sent.count == 4)
        #expect(error?.status == status && error?.isTransient == true)
    }

    @Test(arguments: [400, 403, 404, 405, 409, 412, 413, 500, 302])
    func `does not try again what would be refused again`(status: Int) async throws {
        let transport = ScriptedTransport(.answer(status, Documents.problem("limit-reached", status)))
        let error = await #expect(throws: CarillonError.self) { try await client(transport).unregister("d") }
        #expect(await transport.sent.count == 1 && time.waits.isEmpty)
        #expect(error?.status == status && error?.isTransient == false)
    }

    @Test(arguments: [("7", 7.0), (" 2 ", 2), ("Wed, 18 Nov 2026 11:06:45 GMT", 5), ("soon", 0.375), ("-3", 0.375)])
    func `waits for as long as the service asks, in seconds or by a date`(text: String, seconds: Double) async throws {
        let transport = ScriptedTransport(.answer(503, "", [.retryAfter: text]), .answer(204))
        try await client(transport).unregister("d")
        #expect(time.waits == [.seconds(seconds)])
    }

    @Test func `a date that has passed is no reason to wait longer`() async throws {
        let past = "Wed, 18 Nov 2026 11:06:00 GMT"
        let transport = ScriptedTransport(.answer(429, "", [.retryAfter: past]), .answer(204))
        try await client(transport).unregister("d")
        #expect(time.waits == [.milliseconds(375)])
    }

    @Test(arguments: [("31", 31), ("999999999999999999999999", 86_400)])
    func `does not wait beyond the deadline, and says how long it would have been`(text: String, seconds: Int) async {
        let transport = ScriptedTransport(.answer(503, "", [.retryAfter: text]))
        let error = await #expect(throws: CarillonError.self) { try await client(transport).unregister("d") }
        #expect(await transport.sent.count == 1 && time.waits.isEmpty)
        #expect(error?.retryAfter == .seconds(seconds))
    }

    @Test func `an attempt gets no more time than is left`() async throws {
        let transport = ScriptedTransport(
            .answer(503, "", [.retryAfter: "15"]),
            .answer(503, "", [.retryAfter: "12"]),
            .answer(204)
        )
        try await client(transport).unregister("d")
        #expect(await transport.sent.map(\.timeout) == [.seconds(10), .seconds(10), .seconds(3)])
    }

    @Test func `tries once where the policy says so`() async throws {
        let transport = ScriptedTransport(.fail(.timedOut))
        let client = try CarillonClient.test(transport, policy: .never, time: time)
        let error = await #expect(throws: CarillonError.self) { try await client.unregister("d") }
        #expect(await transport.sent.count == 1)
        #expect(error?.code == .timedOut && error?.underlyingError is URLError)
    }

    @Test func `a task that is cancelled ends at once, with CancellationError`() async throws {
        let transport = ScriptedTransport(.hang)
        let client = try client(transport)
        let call = Task { try await client.unregister("d") }
        while await transport.sent.isEmpty { await Task.yield() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(await transport.sent.count == 1)
    }

    private func client(_ transport: ScriptedTransport) throws -> CarillonClient {
        try CarillonClient.test(transport, time: time)
    }
}
