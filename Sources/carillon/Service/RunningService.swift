import CarillonCore
import NIOHTTP1
import NIOSSL
import PushHTTP

/// A service that runs already, as commands and the demo call it.
struct RunningService: Sendable {
    struct Answer: Sendable {
        let status: Int
        /// `null` where it is empty or no JSON.
        let body: JSONValue

        subscript(name: String) -> JSONValue? { body[name] }

        /// What a problem says: its title and its detail.
        var problem: String {
            "\(status) \([self["title"]?.text, self["detail"]?.text].compactMap(\.self).joined(separator: ": "))"
        }
    }

    private static let maximumAnswerBytes = 1 << 20

    /// Where it is, without a slash at the end.
    let base: String
    private let client: OutboundHTTPClient

    /// The service at an address, which the operator chose: nothing is forbidden.
    /// - Throws: What NIOSSL throws for a TLS configuration that cannot be used.
    init(at base: String, tls: TLSConfiguration) throws {
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        var policy = ConnectionPolicy.brief
        policy.maximumAnswerBytes = Self.maximumAnswerBytes
        client = try OutboundHTTPClient(egress: .unrestricted, tls: tls, policy: policy)
    }

    /// Calls it; says where there is no service.
    func call(
        _ method: OutboundRequest.Method,
        _ path: String,
        _ headers: HTTPHeaders = [:],
        _ body: [UInt8] = [],
        timeout: Duration = .seconds(15)
    ) async throws -> Answer {
        var headers = headers
        if !body.isEmpty { headers.add(name: "content-type", value: "application/json") }
        let request = OutboundRequest(method: method, url: base + path, headers: headers, body: body)
        let response: OutboundResponse
        do {
            response = try await client.execute(request, timeout: timeout)
        } catch let error as OutboundError {
            throw StartError("no answer from \(base) (\(error.rawValue)): does the service run? --url says where it is")
        }
        return Answer(status: response.status, body: (try? JSONValue(parsing: response.body)) ?? .null)
    }
}
