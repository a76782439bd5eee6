import AsyncHTTPClient
import CarillonCore
import NIOCore
import NIOHTTP1

/// Speaks JSON over HTTP.
struct TestClient: Sendable {
    struct Answer: Sendable {
        let status: UInt
        let headers: HTTPHeaders
        let text: String

        var json: JSONValue { (try? JSONValue(parsing: text)) ?? .null }
    }

    private static let few = client(connections: 8)
    private static let many = client(connections: 1_000)

    let base: String
    private let client: HTTPClient

    init(base: String) { self.init(base: base, client: Self.few) }

    private init(base: String, client: HTTPClient) {
        self.base = base
        self.client = client
    }

    /// The same for a crowd: each of its requests has a connection of its own, so that it waits in no line with others, nor others with it.
    var ofCrowd: TestClient { TestClient(base: base, client: Self.many) }

    /// Fails at once when nobody listens: a service that is gone is gone. One that is busy may take its time, and so may the
    /// requests before this one.
    private static func client(connections: Int) -> HTTPClient {
        var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(30)))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func send(
        _ method: HTTPMethod,
        _ path: String,
        token: String? = nil,
        headers: [String: String] = [:],
        body: [UInt8]? = nil,
        contentType: String = "application/json",
        limit: TimeAmount = .seconds(30)
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        if let body {
            request.headers.add(name: "content-type", value: contentType)
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await client.execute(request, timeout: limit)
        let text = String(buffer: try await response.body.collect(upTo: 1 << 22))
        return Answer(status: response.status.code, headers: response.headers, text: text)
    }
}

extension JSONValue {
    var text: String? { if case .string(let text) = self { text } else { nil } }

    var integer: Int? { if case .number(let number) = self { number.integer } else { nil } }

    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    subscript(name: String) -> JSONValue? { if case .object(let object) = self { object[name] } else { nil } }
}
