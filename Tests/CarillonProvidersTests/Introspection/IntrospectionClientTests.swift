import CarillonCore
import CarillonTesting
import NIOHTTP1
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(1))) struct IntrospectionClientTests {
    private let introspection = UserTokenIntrospection(url: "https://chat.acme.example/me", userIDPointer: "/user/0/id")

    private func answer(_ response: OutboundResponse) async -> UserTokenAnswer {
        let transport = RecordingTransport { _ in response }
        return await IntrospectionClient(transport: transport, version: "1")
            .ask(introspection, about: Secret("token"), in: "acme")
    }

    @Test(arguments: [301, 302, 303, 307, 308, 408, 418, 429, 500, 502, 503, 204, 206])
    func `what the server says of itself says nothing of the token`(status: Int) async {
        let answer = await answer(.answer(status, #"{"user":[{"id":"alice"}]}"#))
        #expect(answer == .failed(reason: "http \(status)"))
    }

    @Test(arguments: [
        (401, #"{"user":[{"id":"alice"}]}"#), (403, ""), (404, ""), (200, ""), (200, "{}"),
        (200, #"{"user":{"id":"alice"}}"#),
        (200, #"{"user":[{"id":""}]}"#), (200, #"{"user":[{"id":"me"}]}"#), (200, #"{"user":[{"id":null}]}"#),
        (200, #"{"user":[{"id":1.5}]}"#), (200, #"{"user":[{"id":["alice"]}]}"#),
        (200, #"{"user":[{"id":"a\u0007"}]}"#),
    ])
    func `a token of which no user is named is nobody's`(status: Int, body: String) async {
        #expect(await answer(.answer(status, body)) == .nobody)
    }

    @Test(arguments: [(#"{"user":[{"id":"alice"}]}"#, "alice"), (#"{"user":[{"id":42}]}"#, "42")])
    func `the pointer leads to the user`(body: String, user: String) async {
        #expect(await answer(.answer(200, body)) == .user(UserID(trusted: user)))
    }

    @Test func `an answer that is too long is none`() async {
        let body = #"{"user":[{"id":"alice"}]}"# + String(repeating: " ", count: 64 << 10)
        #expect(await answer(.answer(200, body)) == .failed(reason: "answer too long"))
    }

    @Test func `a server that does not answer in time has said nothing`() async throws {
        try await ScriptedServer.answering({ _ in .nothing }) { server, port in
            let client = try client(deadline: .milliseconds(100))
            let introspection = UserTokenIntrospection(url: "http://127.0.0.1:\(port)/", userIDPointer: "/id")
            #expect(await client.ask(introspection, about: Secret("t"), in: "acme") == .failed(reason: "timeout"))
        }
    }

    @Test func `the token goes along as the app sent it, by GET, and nowhere but where it may`() async throws {
        try await ScriptedServer.answering { _ in
            .text("HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{\"id\":\"alice\"}")
        } during: { server, port in
            let introspection = UserTokenIntrospection(url: "http://127.0.0.1:\(port)/me?v=1", userIDPointer: "/id")
            let answer = try await client().ask(introspection, about: Secret("secret-token"), in: "acme")
            #expect(answer == .user("alice"))
            let request = try #require(server.requests.first)
            #expect(request.head.method == .GET && request.head.uri == "/me?v=1" && request.body.isEmpty)
            #expect(request.head.headers["authorization"] == ["Bearer secret-token"])
            #expect(request.head.headers["content-length"].isEmpty)
            let refused = try await client(allowing: []).ask(introspection, about: Secret("secret-token"), in: "acme")
            guard case .failed = refused else {
                Issue.record("asked at a private address")
                return
            }
            #expect(server.requests.count == 1)
        }
    }

    private func client(
        allowing blocks: [String] = ["127.0.0.0/8"],
        deadline: Duration = .seconds(30)
    ) throws -> IntrospectionClient {
        let policy = IntrospectionClient.policy(connections: 64)
        return IntrospectionClient(
            transport: try OutboundHTTPClient.test(allowing: blocks, policy: policy),
            version: "1",
            deadline: deadline
        )
    }
}
