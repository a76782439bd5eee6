import CarillonCore
import NIOSSL

@testable import PushHTTP

/// Posts a short text to a path, within a time.
typealias Post = @Sendable (String, Duration) async throws -> OutboundResponse

/// Runs `body` with a server and a client that trusts it.
func withHTTP2Server(
    maximumStreams: Int = 1_000,
    sendsSettings: Bool = true,
    policy: ConnectionPolicy = .lasting,
    _ respond: @escaping @Sendable (HTTP2Server.Request) -> [HTTP2Server.Action],
    _ body: (HTTP2Server, @escaping Post) async throws -> Void
) async throws {
    let authority = TestAuthority()
    let tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
    try await HTTP2Server.answering(
        tls: tls,
        maximumStreams: maximumStreams,
        sendsSettings: sendsSettings,
        respond
    ) { server, port in
        let client = try OutboundHTTPClient.test(trusting: authority, policy: policy)
        try await body(server) { path, timeout in
            try await client.post(to: "https://127.0.0.1:\(port)\(path)", timeout: timeout)
        }
    }
}

/// How many of these requests, sent at the same time, got which status.
func statuses(of count: Int, _ post: @escaping Post) async throws -> [Int: Int] {
    try await withThrowingTaskGroup(of: Int.self) { tasks in
        for number in 0..<count { tasks.addTask { try await post("/\(number)", .seconds(60)).status } }
        return try await tasks.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}
