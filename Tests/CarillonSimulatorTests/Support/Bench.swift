import AsyncHTTPClient
import CarillonSimulator
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

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
