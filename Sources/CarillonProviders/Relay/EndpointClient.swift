package import CarillonCore
import Crypto
import Foundation
import NIOHTTP1
package import PushHTTP

/// Signs a message to an endpoint, sends it once, and reads the answer within its limits (Standard Webhooks 1.0.0).
package struct EndpointClient: EndpointCaller {
    /// How much of an answer's body is read; what is longer is no answer to read.
    package static let maximumAnswerBytes = 256 << 10
    private static let maximumHeadBytes = 64 << 10

    private let transport: any HTTPTransport
    private let userAgent: String
    private let clock: WallClock

    /// - Parameters:
    ///   - transport: Sends to permitted addresses only, by ``policy(connections:)``.
    ///   - version: The version of Carillon, for `User-Agent`.
    ///   - clock: The time of `webhook-timestamp`.
    package init(transport: any HTTPTransport, version: String, clock: WallClock = .system) {
        self.transport = transport
        userAgent = "Carillon/\(version)"
        self.clock = clock
    }

    /// How connections to endpoints are kept, of which there are places for so many.
    package static func policy(connections: Int) -> ConnectionPolicy {
        var policy = ConnectionPolicy.brief.limited(to: connections)
        policy.maximumAnswerBytes = maximumAnswerBytes + maximumHeadBytes
        return policy
    }

    package func call(_ call: EndpointCall) async -> EndpointAnswer {
        let start = ContinuousClock.now
        let result: Result<EndpointAnswer.Reply, EndpointAnswer.Failure>
        do {
            let response = try await send(call)
            let body = response.body.count <= Self.maximumAnswerBytes ? response.body : nil
            result = .success(EndpointAnswer.Reply(status: response.status, body: body))
        } catch {
            let known = error as? OutboundError
            result = .failure(
                EndpointAnswer.Failure(
                    reason: OutboundError.reason(for: error),
                    isTimeout: known == .timedOut,
                    isBusy: known == .busy
                )
            )
        }
        return EndpointAnswer(result, time: ContinuousClock.now - start)
    }

    /// Signs and sends a message; answers what came back, of whatever status.
    /// - Throws: What the transport throws.
    func send(_ call: EndpointCall) async throws -> OutboundResponse {
        var headers = HTTPHeaders.signed(
            call.body,
            id: call.messageID,
            secrets: call.secrets,
            userAgent: userAgent,
            now: clock.now()
        )
        headers.goOn(in: call.trace)
        if call.format == .amity { headers.signForAmity(call.body, secrets: call.secrets) }
        if call.method == .get {
            // There is no body whose type it could be.
            headers.remove(name: "content-type")
            headers.add(name: "accept", value: "application/json")
        }
        let request = OutboundRequest(
            method: call.method == .get ? .get : .post,
            url: call.url,
            headers: headers,
            body: call.body,
            lane: Lane(call.endpointID, in: call.networkID)
        )
        return try await transport.execute(request, timeout: call.timeout)
    }
}

extension HTTPHeaders {
    /// Adds what receivers that were built for Amity verify: the HMAC-SHA256 of the raw body with the secret's text as its key, in
    /// base64 as Amity's reference has it, and in hexadecimal under the name that some of its pages have.
    ///
    /// There is room for one signature only, so during a rotation it is the newest secret's.
    fileprivate mutating func signForAmity(_ body: [UInt8], secrets: [WebhookSecret]) {
        guard let key = secrets.first?.text.reveal({ SymmetricKey(data: Array($0.utf8)) }) else { return }
        let code = Array(HMAC<SHA256>.authenticationCode(for: body, using: key))
        add(name: "x-amity-signature", value: Data(code).base64EncodedString())
        add(name: "x-signature", value: code.hexadecimal)
    }
}
