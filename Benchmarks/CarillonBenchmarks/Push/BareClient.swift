import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// AsyncHTTPClient by itself, as the yardstick: requests that are made beforehand, and answers of which only the status is
/// looked at.
struct BareClient: Sendable {
    /// How many requests are on their way at a time: the client is at its fastest with about a hundred, and a second one
    /// with connections of its own adds nothing.
    static let concurrency = 100
    private static let answerLimit = 1 << 16
    private static let timeout = TimeAmount.seconds(30)

    private let client: AsyncHTTPClient.HTTPClient

    /// Lends a client that trusts the root certificate in a file (PEM); afterwards its connections are closed.
    static func withClient<Value: Sendable>(
        trusting certificateAuthorityFile: String,
        _ body: (BareClient) async throws -> Value
    ) async throws -> Value {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(certificateAuthorityFile)
        var configuration = AsyncHTTPClient.HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.httpVersion = .automatic
        let client = AsyncHTTPClient.HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            configuration: configuration
        )
        do {
            let value = try await body(BareClient(client: client))
            try await client.shutdown()
            return value
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    /// Sends a request and answers the body.
    /// - Throws: ``BenchmarkFailure`` unless the status is 2xx.
    func send(_ request: HTTPClientRequest) async throws -> ByteBuffer {
        let response = try await client.execute(request, timeout: Self.timeout)
        let body = try await response.body.collect(upTo: Self.answerLimit)
        guard (200..<300).contains(response.status.code) else {
            throw BenchmarkFailure("the yardstick was answered \(response.status): \(String(buffer: body))")
        }
        return body
    }

    /// Sends all requests, many at a time.
    /// - Returns: How many seconds it took.
    /// - Throws: ``BenchmarkFailure`` unless all are answered 2xx.
    func seconds(of requests: [HTTPClientRequest]) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<min(Self.concurrency, requests.count) {
                group.addTask {
                    for index in stride(from: first, to: requests.count, by: Self.concurrency) {
                        _ = try await send(requests[index])
                    }
                }
            }
            try await group.waitForAll()
        }
        return (ContinuousClock.now - start) / .seconds(1)
    }
}
