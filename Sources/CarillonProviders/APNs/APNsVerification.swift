package import CarillonCore
import NIOHTTP1
import PushHTTP

/// Finds out whether Apple takes a credential, by sending to a device that cannot be.
///
/// Nobody is notified. Apple may look at the device before it looks at the topic, so that a credential that is accepted here
/// can still be one for another app.
package struct APNsVerification: Sendable {
    private static let impossibleToken = String(repeating: "0", count: 64)

    private let connections: APNsConnections
    private let tokens: APNsTokenSource
    private let services: APNsProvider.Services
    private let deadline: Duration

    package init(
        connections: APNsConnections,
        tokens: APNsTokenSource,
        services: APNsProvider.Services = APNsProvider.Services(),
        deadline: Duration = .seconds(10)
    ) {
        self.connections = connections
        self.tokens = tokens
        self.services = services
        self.deadline = deadline
    }

    /// Asks one of Apple's services about a credential.
    package func verdict(
        on credential: APNsCredential,
        appID: String,
        environment: DeviceAddress.APNsEnvironment
    ) async -> CredentialVerdict {
        var headers: HTTPHeaders = [
            "apns-topic": appID,
            "apns-push-type": "alert",
            "apns-priority": "10",
            "apns-expiration": "0",
        ]
        do {
            if case .token(let key) = credential.kind {
                headers.add(name: "authorization", value: "bearer " + (try await tokens.token(for: key).value))
            }
            let request = OutboundRequest(
                url: "\(services.url(of: environment))/3/device/\(Self.impossibleToken)",
                headers: headers,
                body: Array(#"{"aps":{"alert":""}}"#.utf8)
            )
            let transport = try connections.transport(for: credential)
            let response = try await transport.execute(request, timeout: deadline)
            return CredentialVerdict(APNsAnswer(response, now: WallClock.system.now()))
        } catch let error as OutboundError {
            return .unknown(reason: error.rawValue)
        } catch {
            return .unknown(reason: "failed")
        }
    }
}

extension CredentialVerdict {
    /// What an answer says of the credential, by what it means for a delivery.
    init(_ answer: APNsAnswer) {
        let reason = answer.reason ?? "http \(answer.status)"
        switch Outcome(answer) {
        case .delivered, .unregister, .quarantine: self = .accepted
        case .misconfigured: self = .refused(reason: reason)
        case .retry where answer.status == 403: self = .refused(reason: reason)
        case .bug where answer.status == 400 && answer.reason != nil: self = .accepted
        case .retry, .timedOut, .deferLane, .bug, .unsendable: self = .unknown(reason: reason)
        }
    }
}
