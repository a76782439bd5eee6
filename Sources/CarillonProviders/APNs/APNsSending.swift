import CarillonCore
import NIOHTTP1
import PushHTTP
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
        /// What became of all devices of an environment for which the credential is not good.
        var refusals: [DeviceAddress.APNsEnvironment: Outcome] = [:]
    }

    /// Whether the credential is still the one to send with.
    let isCurrent: @Sendable () -> Bool

    private let group: DeliveryGroup
    private let message: APNsMessage
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
        isCurrent: @escaping @Sendable () -> Bool,
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
        self.isCurrent = isCurrent
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

    /// What became of the lane as a whole, or of an environment, as soon as an answer tells.
    private func verdict(on environment: DeviceAddress.APNsEnvironment) -> Outcome? {
        state.withLock { $0.verdict ?? $0.refusals[environment] }
    }

    /// Sends to one device, unless it turns out before it is its turn that nothing in the lane, or for its environment, can
    /// succeed.
    /// - Returns: `nil` when it was not sent, since the task was cancelled or the credential changed.
    func send(to target: Target) async -> Outcome? {
        guard case .apns(let device, let app, let environment) = target.address else {
            return .bug(reason: "not an APNs device")
        }
        guard message.fits else { return .payloadTooLarge }
        guard let topic = message.topic(of: app) else {
            return .unsendable(reason: "apns-topic is not one of the app's")
        }
        if let verdict = verdict(on: environment) { return verdict }
        do {
            let id = NotificationID(event: group.cause.eventID, device: target.deviceID).description
            let finding = try await exchange(device, in: environment, topic: topic, id: id)
            return judge(finding, of: target)
        } catch let refusal as EgressRefusal {
            return .bug(reason: refusal.rule.rawValue)
        } catch let error as OutboundError {
            return judge(Finding(error), of: target)
        } catch {
            if let verdict = verdict(on: environment) { return verdict }
            return Task.isCancelled || !isCurrent() ? nil : .retry(after: nil, reason: "failed")
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
    private func exchange(
        _ device: String,
        in environment: DeviceAddress.APNsEnvironment,
        topic: String,
        id: String
    ) async throws -> Finding {
        let service = environment == .production ? services.production : services.sandbox
        let url = "\(service)/3/device/\(device)"
        let token = state.withLock { $0.token }
        let answer = try await post(url, environment, topic: topic, id: id, token: token)
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
            return Finding(try await post(url, environment, topic: topic, id: id, token: renewed))
        case "TooManyProviderTokenUpdates":
            if let renewal { renewal.source.pauseRenewal(of: renewal.key) }
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

    /// Notes that the credential is not good for an environment.
    ///
    /// A connection that has not proven its credential carries one request at a time: the others of the environment, of which
    /// the next is granted its stream as soon as this answer is there, need not try.
    private func note(_ response: OutboundResponse, of environment: DeviceAddress.APNsEnvironment) {
        guard response.status == 403 else { return }
        let answer = APNsAnswer(response, now: clock.now())
        guard answer.concernsEnvironment, case .certain(let refusal) = Finding(answer) else { return }
        state.withLock { $0.refusals[environment] = refusal }
    }

    private func post(
        _ url: String,
        _ environment: DeviceAddress.APNsEnvironment,
        topic: String,
        id: String,
        token: ProviderToken?
    ) async throws -> APNsAnswer {
        var headers: HTTPHeaders = [
            "apns-topic": topic,
            "apns-push-type": message.pushType,
            "apns-priority": message.priority,
            "apns-id": id,
            "apns-collapse-id": message.collapseID ?? id,
            "apns-expiration": message.expiration,
        ]
        if let token { headers.add(name: "authorization", value: "bearer " + token.value) }
        let request = OutboundRequest(
            url: url,
            headers: headers,
            body: message.payload,
            lane: group.lane,
            isStillWanted: { self.isCurrent() && self.verdict(on: environment) == nil },
            whenAnswered: { self.note($0, of: environment) }
        )
        return APNsAnswer(try await transport.execute(request, timeout: timeout), now: clock.now())
    }
}
