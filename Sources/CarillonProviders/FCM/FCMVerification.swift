import CarillonCore
package import PushHTTP

/// Finds out whether Google lets a service account send, by a message that it only validates, to a device that cannot be.
///
/// - SeeAlso: `validate_only`, Firebase's reference of the FCM HTTP v1 API.
package struct FCMVerification: Sendable {
    private static let body: JSONValue = ["validate_only": true, "message": ["token": "not a token"]]

    private let transport: any HTTPTransport
    private let tokens: FCMTokenSource
    private let server: FCMServer
    private let deadline: Duration

    package init(
        transport: any HTTPTransport,
        tokens: FCMTokenSource,
        server: FCMServer,
        deadline: Duration = .seconds(10)
    ) {
        self.transport = transport
        self.tokens = tokens
        self.server = server
        self.deadline = deadline
    }

    /// Asks Google for an access token, and whether messages can be sent with it.
    ///
    /// - Throws: ``FCMTokenFailure`` where there is no token.
    package func verdict(on credential: FCMCredential) async throws(FCMTokenFailure) -> CredentialVerdict {
        let token = try await tokens.fetch(credential)
        let request = server.request(Array(Self.body.serialized), projectID: credential.projectID, token: token)
        do {
            return CredentialVerdict(FCMAnswer(try await transport.execute(request, timeout: deadline)))
        } catch {
            return .unknown(reason: OutboundError.reason(for: error))
        }
    }
}

extension CredentialVerdict {
    /// What an answer says of the service account: who it is comes before what it sends.
    init(_ answer: FCMAnswer) {
        let reason = answer.cause ?? answer.errorStatus ?? "http \(answer.status)"
        switch answer.status {
        case 200..<300, 400: self = .accepted
        case 404 where answer.errorCode != nil: self = .accepted
        case 401, 403, 404: self = .refused(reason: reason)
        default: self = .unknown(reason: reason)
        }
    }
}
