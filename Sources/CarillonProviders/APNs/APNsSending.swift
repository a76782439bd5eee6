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
    /// Whether there are devices of both environments.
    private let isMixed: Bool
    private let services: APNsProvider.Services
    private let transport: any HTTPTransport
    private let reconnect: @Sendable () -> Void
    private let renewal: (key: APNsSigningKey, source: APNsTokenSource)?
    private let history: LaneHistory
    private let key: LaneHistory.Key
    private let clock: WallClock
    private let timeout: Duration
    private let state: Mutex<State>

    init(
        _ group: DeliveryGroup,
        identity: Identity,
        services: APNsProvider.Services,
        transport: any HTTPTransport,
        reconnect: @escaping @Sendable () -> Void,
        history: LaneHistory,
        key: LaneHistory.Key,
        clock: WallClock,
        timeout: Duration
    ) {
        self.group = group
        message = APNsMessage(group)
        let isSandbox = group.targets.map { if case .apns(_, _, .sandbox) = $0.address { true } else { false } }
        isMixed = Set(isSandbox).count > 1
        self.services = services
        self.transport = transport
        self.reconnect = reconnect
        self.history = history
        self.key = key
        self.clock = clock
        self.timeout = timeout
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
    private var verdict: Outcome? { state.withLock { $0.verdict } }

    /// Sends to one device, unless it turns out before it is its turn that nothing in the lane can succeed.
    /// - Returns: `nil` when the task was cancelled.
    func send(to target: Target) async -> Outcome? {
        guard case .apns(let device, let topic, let environment) = target.address else {
            return .bug(reason: "not an APNs device")
        }
        let service = environment == .production ? services.production : services.sandbox
        let id = NotificationID(event: group.cause.eventID, device: target.deviceID).description
        do {
            var finding = try await exchange("\(service)/3/device/\(device)", topic: topic, id: id)
            // However many are refused in one environment, the group's devices in the other one are to have their turn.
            if isMixed, case .partial(let ofKind, _) = finding { finding = .certain(ofKind) }
            return judge(finding, of: target)
        } catch let refusal as EgressRefusal {
            return .bug(reason: refusal.rule.rawValue)
        } catch let error as OutboundError {
            return judge(Finding(error), of: target)
        } catch {
            return Task.isCancelled ? nil : verdict ?? .retry(after: nil, reason: "failed")
        }
    }

    /// The outcome by what was found, which may be one for the whole group.
    private func judge(_ finding: Finding, of target: Target) -> Outcome {
        let outcome = history.outcome(finding, of: target.deviceID, in: key, at: clock.now())
        switch outcome {
        case .misconfigured, .deferLane: state.withLock { $0.verdict = outcome }
        default: break
        }
        return outcome
    }

    /// Sends a request, and once more when only the token was too old.
    private func exchange(_ url: String, topic: String, id: String) async throws -> Finding {
        let token = state.withLock { $0.token }
        let answer = try await post(url, topic: topic, id: id, token: token)
        switch answer.reason {
        case "ExpiredProviderToken":
            guard let renewal, let token else { break }
            let renewed: ProviderToken?
            do {
                renewed = try await renewal.source.token(for: renewal.key, insteadOf: token)
            } catch let error as CancellationError {
                throw error
            } catch {
                return .certain(.deferLane(after: .seconds(5), reason: "provider token not available"))
            }
            guard let renewed else { break }
            state.withLock { $0.token = renewed }
            return Finding(try await post(url, topic: topic, id: id, token: renewed))
        case "TooManyProviderTokenUpdates":
            if let renewal { await renewal.source.pauseRenewal(of: renewal.key) }
        case "Shutdown" where answer.status == 503:
            reconnect()
        case _ where answer.status == 403 && !answer.concernsEnvironment:
            // APNs has bound the connection to what it refused. The connections to both environments are left together.
            reconnect()
        default:
            break
        }
        return Finding(answer)
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
        let request = OutboundRequest(url: url, headers: headers, body: message.payload) { self.verdict == nil }
        return APNsAnswer(try await transport.execute(request, timeout: timeout), now: clock.now())
    }
}
