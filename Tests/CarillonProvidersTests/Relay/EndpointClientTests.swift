import CarillonCore
import CarillonTesting
import CarillonWebhooks
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(1))) struct EndpointClientTests {
    private static let secrets = [WebhookSecret.generate(), .generate()]

    private func client(allowing blocks: [String] = ["127.0.0.0/8"]) throws -> EndpointClient {
        let transport = try OutboundHTTPClient.test(allowing: blocks, policy: EndpointClient.policy(connections: 64))
        return EndpointClient(transport: transport, version: "1.2.3")
    }

    private func call(_ url: String, timeout: Duration = .seconds(30)) -> EndpointCall {
        EndpointCall(
            networkID: "acme",
            endpointID: "e-1",
            url: url,
            secrets: Self.secrets,
            messageID: "m-1",
            body: Array("{}".utf8),
            timeout: timeout
        )
    }

    /// An answer of so many bytes.
    private func answer(of count: Int) -> ScriptedServer.Answer {
        .text("HTTP/1.1 200 OK\r\ncontent-length: \(count)\r\n\r\n" + String(repeating: "x", count: count))
    }

    @Test func `a message is signed with all secrets and answered with what came back`() async throws {
        try await ScriptedServer.answering { _ in
            .text("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        } during: { server, port in
            let answer = try await client().call(call("http://127.0.0.1:\(port)/in?x=1"))
            #expect(answer.result == .success(.init(status: 200, body: Array("{}".utf8))))
            let request = try #require(server.requests.first)
            let headers = request.head.headers
            #expect(request.head.uri == "/in?x=1" && request.body == Array("{}".utf8))
            #expect(headers.first(name: "user-agent") == "Carillon/1.2.3")
            for secret in Self.secrets {
                try Webhook(secret.signing).verify(
                    request.body,
                    id: headers.first(name: "webhook-id"),
                    timestamp: headers.first(name: "webhook-timestamp"),
                    signature: headers.first(name: "webhook-signature")
                )
            }
        }
    }

    @Test func `256 KiB of an answer are read, and no more`() async throws {
        let limit = EndpointClient.maximumAnswerBytes
        try await ScriptedServer.answering { request in
            answer(of: request.head.uri == "/long" ? limit + 1 : limit)
        } during: { _, port in
            let fits = try await client().call(call("http://127.0.0.1:\(port)/"))
            #expect(try fits.result.get().body?.count == limit)
            let long = try await client().call(call("http://127.0.0.1:\(port)/long"))
            #expect(try long.result.get() == .init(status: 200, body: nil))
        }
    }

    @Test func `an answer without end is cut off`() async throws {
        let chunk = "1000\r\n" + String(repeating: "x", count: 4_096) + "\r\n"
        try await ScriptedServer.answering { _ in
            .endless("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunk)
        } during: { server, port in
            let answer = try await client().call(call("http://127.0.0.1:\(port)/"))
            #expect(try answer.result.get() == .init(status: 200, body: nil))
            #expect(server.bytesSent < 32 << 20)
        }
    }

    @Test(arguments: [
        (ScriptedServer.Answer.nothing, EndpointAnswer.Failure(reason: "timeout", isTimeout: true)),
        (.drip("HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n", 120), .init(reason: "timeout", isTimeout: true)),
        (.close, .init(reason: "connection closed")),
        (.textThenClose("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"), .init(reason: "malformed answer")),
        (.text("garbage\r\n\r\n"), .init(reason: "malformed answer")),
    ])
    func `what is no answer says why`(answer: ScriptedServer.Answer, failure: EndpointAnswer.Failure) async throws {
        try await ScriptedServer.answering({ _ in answer }) { _, port in
            let timeout = Duration.milliseconds(failure.isTimeout ? 300 : 30_000)
            let answer = try await client().call(call("http://127.0.0.1:\(port)/", timeout: timeout))
            #expect(answer.result == .failure(failure))
            #expect(answer.time >= (failure.isTimeout ? timeout : .zero))
        }
    }

    @Test func `private addresses are not called, and redirects not followed`() async throws {
        let blocked = try await client(allowing: []).call(call("http://127.0.0.1:9999/"))
        #expect(blocked.result == .failure(.init(reason: "blocked address")))
        try await ScriptedServer.answering { _ in
            .status("307 Moved", headers: "location: http://127.0.0.1:9999/\r\n")
        } during: { server, port in
            let moved = try await client().call(call("http://127.0.0.1:\(port)/"))
            #expect(try moved.result.get().status == 307)
            #expect(server.requests.count == 1)
        }
    }
}
