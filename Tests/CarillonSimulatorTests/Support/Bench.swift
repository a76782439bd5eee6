import AsyncHTTPClient
import CarillonSimulator
import CarillonTesting
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

/// A simulator with a client that trusts it.
struct Bench: Sendable {
    /// What a service answered.
    struct Answer: Sendable {
        var status: UInt
        var headers: HTTPHeaders
        var body: Data

        func header(_ name: String) -> String? { headers.first(name: name) }

        /// A member of the JSON object that the body is.
        subscript(name: String) -> String? {
            let object = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
            return object?[name].map { "\($0)" }
        }
    }

    let simulator: Simulator
    let client: HTTPClient
    /// One provider token for all notifications: APNs refuses senders that make new ones.
    let authorization: String

    /// Posts over HTTP/2, and over HTTP/1.1 where that is what the client speaks.
    func post(
        _ url: String,
        headers: [(String, String)],
        body: [UInt8],
        method: HTTPMethod = .POST,
        timeout: TimeAmount = .seconds(10)
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = HTTPHeaders(headers)
        if !body.isEmpty { request.body = .bytes(body) }
        let response = try await client.execute(request, timeout: timeout)
        let bytes = try await response.body.collect(upTo: 1_000_000)
        return Answer(status: response.status.code, headers: response.headers, body: Data(bytes.readableBytesView))
    }
}

/// Runs a body with a simulator of its own.
///
/// `http1` keeps the client from offering HTTP/2; `certificate` is what it shows.
func withBench(
    http1: Bool = false,
    certificate: String? = nil,
    _ change: (inout SimulatorConfiguration) -> Void = { _ in },
    body: (Bench) async throws -> Void
) async throws {
    var configuration = SimulatorConfiguration()
    change(&configuration)
    let simulator = try await Simulator.start(configuration)
    do {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(simulator.certificateAuthorityFile)
        if let certificate {
            let issued = try simulator.makeClientCertificate(topic: certificate)
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(issued.certificatePEM.utf8))
            tls.certificateChain = chain.map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(issued.privateKeyPEM.utf8), format: .pem))
        }
        var settings = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        settings.httpVersion = http1 ? .http1Only : .automatic
        let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
        do {
            let authorization = try Token.apns(simulator.apnsKey)
            try await body(Bench(simulator: simulator, client: client, authorization: authorization))
            try await client.shutdown()
        } catch {
            try await client.shutdown()
            throw error
        }
        await simulator.shutdown()
    } catch {
        await simulator.shutdown()
        throw error
    }
}

extension Trait where Self == Lending<Bench> {
    /// A simulator for each test, as it usually is.
    static var bench: Self { Lending { try await withBench(body: $0) } }
}

extension Bench {
    static let payload = #"{"aps":{"alert":{"title":"Bob","body":"Hello"}},"eventId":"e-1"}"#

    /// Pushes a notification that is right but for the headers given; one with `nil` is left out.
    func push(
        _ token: String = SimulatedToken.apns(),
        to service: String? = nil,
        path: String? = nil,
        method: HTTPMethod = .POST,
        id: String = UUID().uuidString,
        authorization: String? = nil,
        changing changes: KeyValuePairs<String, String?> = [:],
        adding extra: [(String, String)] = [],
        payload: String = payload,
        timeout: TimeAmount = .seconds(10)
    ) async throws -> Answer {
        var headers: [String: String] = [
            "authorization": authorization ?? self.authorization,
            "apns-id": id, "apns-topic": "com.example.chat", "apns-push-type": "alert", "apns-priority": "10",
            "apns-expiration": "0", "apns-collapse-id": id,
        ]
        for (name, value) in changes { headers[name] = value }
        return try await post(
            (service ?? simulator.urls.apnsProduction) + (path ?? "/3/device/\(token)"),
            headers: headers.map { ($0.key, $0.value) } + extra,
            body: Array(payload.utf8),
            method: method,
            timeout: timeout
        )
    }
}

extension Bench {
    var sendURL: String { "\(simulator.urls.fcm)/v1/projects/simulated-project/messages:send" }

    /// Asks for an access token; `nil` asks with an assertion that is right.
    func requestToken(_ assertion: String? = nil) async throws -> Answer {
        let assertion = try assertion ?? Token.assertion(simulator.serviceAccountJSON)
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let headers = [("content-type", "application/x-www-form-urlencoded")]
        return try await post(simulator.urls.token, headers: headers, body: Array(form.utf8))
    }

    func accessToken() async throws -> String { try await requestToken()["access_token"] ?? "" }

    /// A message that is right but for the members given as JSON.
    static func message(to token: String, _ members: String = "") -> String {
        #"""
        {"message":{"token":"\#(token)","notification":{"title":"Bob","body":"Hello"}\#(members.isEmpty ? "" : ",")\#(members)}}
        """#
    }

    func send(
        _ message: String,
        accessToken: String,
        url: String? = nil,
        timeout: TimeAmount = .seconds(10)
    ) async throws -> Answer {
        let headers = [("authorization", "Bearer \(accessToken)"), ("content-type", "application/json")]
        return try await post(url ?? sendURL, headers: headers, body: Array(message.utf8), timeout: timeout)
    }
}

extension Bench.Answer {
    var fcmErrorCode: String? { details.compactMap { $0["errorCode"] as? String }.first }

    /// The field that the error is about.
    var violatedField: String? {
        details.compactMap { ($0["fieldViolations"] as? [[String: String]])?.first?["field"] }.first
    }

    private var details: [[String: Any]] {
        let object = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
        return (object?["error"] as? [String: Any])?["details"] as? [[String: Any]] ?? []
    }
}
