import CarillonClient
import Foundation
import HTTPTypes
import Testing

@Suite struct TokenTests {
    private let refused = Documents.problem("unauthorized", 401)

    @Test func `keeps a token until it is refused, and then asks for another one once`() async throws {
        let transport = ScriptedTransport(.answer(204), .answer(204), .answer(401, refused), .answer(204))
        let tokens = Tokens("first", "second")
        let client = try CarillonClient.test(transport) { await tokens.next() }
        for _ in 0..<3 { try await client.unregister("d") }
        #expect(await transport.sent.map(\.token) == ["Bearer first", "Bearer first", "Bearer first", "Bearer second"])
        #expect(await tokens.count == 2)
    }

    @Test func `a second token that is refused is an error`() async throws {
        let transport = ScriptedTransport(.answer(401, refused, [requestID: "r-1"]))
        let tokens = Tokens("first", "second", "third")
        let client = try CarillonClient.test(transport) { await tokens.next() }
        let error = await #expect(throws: CarillonError.self) { try await client.unregister("d") }
        #expect(error?.code == .unauthorized && error?.requestID == "r-1")
        #expect(await transport.sent.count == 2)
    }

    @Test func `the same token again is not sent again`() async throws {
        let transport = ScriptedTransport(.answer(401, refused))
        let client = try CarillonClient.test(transport)
        await #expect(throws: CarillonError.self) { try await client.unregister("d") }
        #expect(await transport.sent.count == 1)
    }

    @Test func `calls beside each other share one refresh`() async throws {
        let transport = TokenCheck(good: "second")
        let tokens = SlowTokens()
        let client = try CarillonClient.test(transport) { await tokens.next() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await client.unregister("d") } }
            try await group.waitForAll()
        }
        #expect(await tokens.count == 2)
        #expect(await transport.accepted == 20)
    }

    @Test func `a back end that has no token is an error that says why`() async throws {
        struct SignedOut: Error {}
        let transport = ScriptedTransport(.answer(204))
        let client = try CarillonClient.test(transport) { throw SignedOut() }
        let error = await #expect(throws: CarillonError.self) { try await client.unregister("d") }
        #expect(error?.code == .noToken && error?.underlyingError is SignedOut && error?.isTransient == false)
        #expect(await transport.sent.isEmpty)
    }

    @Test func `a call that is cancelled while it waits for a token keeps nobody else from it`() async throws {
        let transport = ScriptedTransport(.answer(204))
        let gate = Gate()
        let client = try CarillonClient.test(transport) { try await gate.pass() }
        let first = Task { try await client.unregister("a") }
        while await gate.waiting == 0 { await Task.yield() }
        let second = Task { try await client.unregister("b") }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await gate.open()
        try await second.value
        #expect(await transport.sent.map(\.line) == ["DELETE /v1/networks/acme/devices/b"])
    }

    @Test func `what was called before it was forgotten is not tried again, in nobody's name`() async throws {
        let transport = ScriptedTransport(.answer(503), .answer(204))
        let tokens = Tokens("of alice", "of bob")
        let signingOut = SigningOut()
        let client = try CarillonClient.test(transport, time: ManualTime(whileWaiting: signingOut.signOut)) {
            await tokens.next()
        }
        await signingOut.prepare(client)
        await #expect(throws: CancellationError.self) { try await client.unregister("d") }
        #expect(await transport.sent.map(\.token) == ["Bearer of alice"])
        try await client.unregister("d")
        #expect(await transport.sent.last?.token == "Bearer of bob")
    }

    @Test func `after it was forgotten the next call asks for a token anew`() async throws {
        let transport = ScriptedTransport(.answer(204))
        let tokens = Tokens("alice", "bob")
        let client = try CarillonClient.test(transport) { await tokens.next() }
        try await client.unregister("d")
        await client.forgetToken()
        try await client.unregister("d")
        #expect(await transport.sent.map(\.token) == ["Bearer alice", "Bearer bob"])
    }

    private var requestID: HTTPField.Name { HTTPField.Name("x-request-id") ?? .via }
}

/// Takes one token and refuses others.
private actor TokenCheck: CarillonClient.Transport {
    private let good: String
    private(set) var accepted = 0

    init(good: String) {
        self.good = good
    }

    func send(
        _ request: HTTPRequest,
        body: Data?,
        timeout: Duration
    ) async throws -> (response: HTTPResponse, body: Data) {
        guard request.headerFields[.authorization] == "Bearer \(good)" else {
            return (HTTPResponse(status: .unauthorized), Data())
        }
        accepted += 1
        return (HTTPResponse(status: .noContent), Data())
    }
}

/// Lets others run before it answers.
private actor SlowTokens {
    private(set) var count = 0

    func next() async -> String {
        count += 1
        let token = count == 1 ? "first" : "second"
        for _ in 0..<100 { await Task.yield() }
        return token
    }
}

/// Keeps whoever comes waiting until it is opened.
private actor Gate {
    private(set) var waiting = 0
    private var isOpen = false

    func pass() async throws -> String {
        waiting += 1
        while !isOpen {
            try Task.checkCancellation()
            await Task.yield()
        }
        return "jwt"
    }

    func open() {
        isOpen = true
    }
}

/// Signs out of a client when it is told to.
private actor SigningOut {
    private var client: CarillonClient?

    func prepare(_ client: CarillonClient) { self.client = client }

    func signOut() async { await client?.forgetToken() }
}
