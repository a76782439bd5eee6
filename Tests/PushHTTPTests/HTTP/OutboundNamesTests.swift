import CarillonCore
import Synchronization
import Testing

@testable import PushHTTP

@Suite(.timeLimit(.minutes(1))) struct OutboundNamesTests {
    @Test(arguments: [
        [IPAddress.v4(0x7F00_0001), .v4(0x0A00_0001)], [.v4(0x0A00_0001), .v4(0x7F00_0001)],
        [.v4(0x7F00_0001), .v6(1)], [.v4(0x7F00_0001), .v6(0xFFFF_0A00_0001)], [.v4(0xA9FE_A9FE)],
    ])
    func `refuses a name with an address that is not permitted, and dials none`(addresses: [IPAddress]) async throws {
        try await ScriptedServer.answering({ _ in .ok }) { server, port in
            let client = try OutboundHTTPClient.test { _ in addresses }
            await #expect(throws: EgressRefusal.address) { try await client.post(to: "http://hook.test:\(port)/") }
            #expect(server.connectionCount == 0)
        }
    }

    @Test func `connects to the address that was checked, whatever the name leads to next`() async throws {
        let lookups = Atomic(0)
        try await ScriptedServer.answering { _ in
            .status("200 OK", headers: "connection: close\r\n")
        } during: { server, port in
            let client = try OutboundHTTPClient.test { _ in
                let isFirst = lookups.wrappingAdd(1, ordering: .relaxed).oldValue == 0
                return [isFirst ? .v4(0x7F00_0001) : .v4(0xA9FE_A9FE)]
            }
            let url = "http://hook.test:\(port)/"
            #expect(try await client.post(to: url).status == 200)
            #expect(lookups.load(ordering: .relaxed) == 1)
            await #expect(throws: EgressRefusal.address) { try await client.post(to: url) }
            #expect(lookups.load(ordering: .relaxed) == 2)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `tries the next address when one does not take connections`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { _, port in
            let client = try OutboundHTTPClient.test { _ in [.v4(0x7F00_0002), .v4(0x7F00_0001)] }
            #expect(try await client.post(to: "http://hook.test:\(port)/").status == 200)
        }
    }

    @Test func `does not look up localhost`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { _, port in
            #expect(try await OutboundHTTPClient.test().post(to: "http://localhost:\(port)/").status == 200)
            let guarded = try OutboundHTTPClient.test(allowing: [])
            await #expect(throws: EgressRefusal.address) { try await guarded.post(to: "http://localhost:\(port)/") }
        }
    }

    @Test(arguments: [OutboundError.nameNotFound, .lookupFailed])
    func `tells why a name has no address`(error: OutboundError) async throws {
        let client = try OutboundHTTPClient.test { _ in throw error }
        await #expect(throws: error) { try await client.post(to: "http://hook.test/") }
    }

    @Test func `takes a name without addresses for one that does not exist`() async throws {
        let client = try OutboundHTTPClient.test { _ in [] }
        await #expect(throws: OutboundError.nameNotFound) { try await client.post(to: "http://hook.test/") }
    }

    @Test func `does not wait for a resolver that hangs`() async throws {
        let client = try OutboundHTTPClient.test { _ in
            try await Task.sleep(for: .seconds(3_600))
            return []
        }
        await #expect(throws: OutboundError.lookupFailed) {
            try await client.post(to: "http://hook.test/", timeout: .milliseconds(50))
        }
    }
}
