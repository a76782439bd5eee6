import CarillonCore
import NIOHTTP1
import Synchronization

/// One group on its way to APNs.
final class APNsSending: Sendable {
    /// What shows APNs that we may send.
    enum Identity: Sendable {
        /// The certificate of the connection.
        case certificate
        case token(APNsSigningKey, ProviderToken, APNsTokenSource)
    }

    private struct State {
        var token: ProviderToken?
        var verdict: Outcome?
    }

    private let group: DeliveryGroup
    private let message: APNsMessage
    private let services: APNsProvider.Services
    private let transport: any HTTPTransport
    private let reconnect: @Sendable () -> Void
    private let renewal: (key: APNsSigningKey, source: APNsTokenSource)?
    private let clock: WallClock
    private let deadline: Duration
    private let state: Mutex<State>

    init(
        _ group: DeliveryGroup,
        identity: Identity,
        services: APNsProvider.Services,
        transport: any HTTPTransport,
        reconnect: @escaping @Sendable () -> Void,
        clock: WallClock,
        deadline: Duration
    ) {
        self.group = group
        message = APNsMessage(group)
        self.services = services
        self.transport = transport
        self.reconnect = reconnect
        self.clock = clock
        self.deadline = deadline
        switch identity {
        case .certificate:
            renewal = nil
            state = Mutex(State())
        case .token(let key, let token, let source):
            renewal = (key, source)
            state = Mutex(State(token: token))
        }
    }

    /// What became of the lane as a whole, as soon as an answer tells.
    var verdict: Outcome? { state.withLock { $0.verdict } }

    /// Sends to one device. `nil` when the task was cancelled.
    func send(to target: Target) async -> Outcome? {
        guard case .apns(let device, let topic, let environment) = target.address else {
            return .bug(reason: "not an APNs device")
        }
        let service = environment == .production ? services.production : services.sandbox
        let id = NotificationID(event: group.cause.eventID, device: target.deviceID).description
        do {
            let outcome = try await exchange("\(service)/3/device/\(device)", topic: topic, id: id)
            switch outcome {
            case .misconfigured, .deferLane: state.withLock { $0.verdict = outcome }
            default: break
            }
            return outcome
        } catch let refusal as EgressRefusal {
            return .bug(reason: refusal.rule.rawValue)
        } catch let error as OutboundError {
            return .retry(after: nil, reason: error.rawValue)
        } catch {
            return verdict ?? (Task.isCancelled ? nil : .retry(after: nil, reason: "failed"))
        }
    }

    /// Sends a request, and once more when only the token was too old.
    private func exchange(_ url: String, topic: String, id: String) async throws -> Outcome {
        let token = state.withLock { $0.token }
        let answer = try await post(url, topic: topic, id: id, token: token)
        switch answer.reason {
        case "ExpiredProviderToken":
            guard let renewal, let token else { break }
            let renewed: ProviderToken?
            do {
                renewed = try await renewal.source.token(for: renewal.key, insteadOf: token)
            } catch {
                return .deferLane(after: .seconds(5), reason: "provider token not available")
            }
            guard let renewed else { break }
            state.withLock { $0.token = renewed }
            return Outcome(try await post(url, topic: topic, id: id, token: renewed))
        case "TooManyProviderTokenUpdates":
            if let renewal { await renewal.source.pauseRenewal(of: renewal.key) }
        case _ where answer.status == 403:
            // APNs has bound the connection to what it refused.
            reconnect()
        default:
            break
        }
        return Outcome(answer)
    }

    private func post(_ url: String, topic: String, id: String, token: ProviderToken?) async throws -> APNsAnswer {
        var headers: HTTPHeaders = [
            "apns-topic": topic,
            "apns-push-type": "alert",
            "apns-priority": "10",
            "apns-id": id,
            "apns-collapse-id": id,
            "apns-expiration": message.expiration,
        ]
        if let token { headers.add(name: "authorization", value: "bearer " + token.value) }
        let request = OutboundRequest(url: url, headers: headers, body: message.payload)
        return APNsAnswer(try await transport.execute(request, timeout: deadline), now: clock.now())
    }
}
