import CarillonCore
import NIOHTTP1
import PushHTTP
import Synchronization

/// One group on its way to APNs.
final class APNsSending: Sendable {
    private static let noToken = "provider token not available"

    private struct State {
        var token: ProviderToken?
        var verdict: Outcome?
        /// What became of all devices of an environment for which the credential is not good.
        var refusals: [DeviceAddress.APNsEnvironment: Outcome] = [:]
    }

    private let group: DeliveryGroup
    private let message: APNsMessage
    private let provider: APNsProvider
    private let current: CurrentCredential<APNsCredential>
    private let transport: any HTTPTransport
    private let key: LaneHistory.Key
    private let state: Mutex<State>

    /// Finds what a group is sent with.
    init(
        _ group: DeliveryGroup,
        by provider: APNsProvider,
        with current: CurrentCredential<APNsCredential>
    ) async throws(Refusal) {
        var token: ProviderToken?
        if case .token(let key) = current.value.kind {
            do {
                token = try await provider.tokens.token(for: key)
            } catch {
                throw Refusal(.deferLane(after: .seconds(5), reason: Self.noToken, isOurs: true))
            }
        }
        do {
            transport = try provider.connections.transport(for: current.value)
        } catch {
            throw Refusal(.misconfigured(reason: "certificate cannot be used"))
        }
        self.group = group
        message = APNsMessage(group)
        self.provider = provider
        self.current = current
        key = LaneHistory.Key(lane: group.lane, credential: current.value.connectionName)
        state = Mutex(State(token: token))
    }

    /// What became of the lane as a whole, or of an environment, as soon as an answer tells.
    private func verdict(on environment: DeviceAddress.APNsEnvironment) -> Outcome? {
        state.withLock { $0.verdict ?? $0.refusals[environment] }
    }

    /// Sends to one device, unless it turns out before it is its turn that nothing in the lane, or for its environment, can
    /// succeed.
    /// - Returns: `nil` when it was not sent, since the task was cancelled or the credential changed.
    func send(to target: Target) async -> Outcome? {
        guard let address = target.address, address.provider == provider.name,
            let environment = address.environment
        else {
            return .unsendable(reason: "not an APNs device", isOfDevice: true)
        }
        guard message.fits else { return .payloadTooLarge }
        guard let topic = message.topic(of: address.appID) else {
            return .unsendable(reason: "apns-topic is not one of the app's")
        }
        if let verdict = verdict(on: environment) { return verdict }
        let id = NotificationID(event: group.cause.eventID, device: target.deviceID).description
        let finding = await current.finding { current in
            do {
                return try await exchange(address, in: environment, topic: topic, id: id, with: current)
            } catch let error as CancellationError {
                // Not wanted any more, perhaps for what another answer said meanwhile.
                guard let verdict = verdict(on: environment) else { throw error }
                return .certain(verdict)
            }
        }
        guard let finding else { return nil }
        // It may be one for the whole group.
        let outcome = provider.history.outcome(finding, of: target.deviceID, in: key, at: provider.clock.now())
        switch outcome {
        case .misconfigured, .deferLane: state.withLock { $0.verdict = outcome }
        default: break
        }
        return outcome
    }

    /// Sends a request, and once more when only the token was too old.
    private func exchange(
        _ address: DeviceAddress,
        in environment: DeviceAddress.APNsEnvironment,
        topic: String,
        id: String,
        with current: CurrentCredential<APNsCredential>
    ) async throws -> Finding {
        let url = "\(provider.services.url(of: environment))/3/device/\(address.text)"
        var hasRenewed = false
        while true {
            let token = state.withLock { $0.token }
            let answer = try await post(url, environment, topic: topic, id: id, token: token, with: current)
            switch answer.reason {
            case "ExpiredProviderToken" where !hasRenewed:
                guard case .token(let key) = current.value.kind, let token else { break }
                let renewed: ProviderToken?
                do {
                    renewed = try await provider.tokens.token(for: key, insteadOf: token)
                } catch let error as CancellationError {
                    throw error
                } catch {
                    return .certain(.deferLane(after: .seconds(5), reason: Self.noToken, isOurs: true))
                }
                guard let renewed else { break }
                state.withLock { $0.token = renewed }
                hasRenewed = true
                continue
            case "TooManyProviderTokenUpdates":
                if case .token(let key) = current.value.kind { provider.tokens.pauseRenewal(of: key) }
            case "Shutdown" where answer.status == 503:
                provider.connections.renew(for: current.value, insteadOf: transport)
            case _ where answer.status == 403 && !answer.concernsEnvironment:
                // APNs has bound the connection to what it refused. The connections to both environments are left together.
                provider.connections.renew(for: current.value, insteadOf: transport)
            default:
                break
            }
            return Finding(answer, isOwnTopic: topic == address.appID)
        }
    }

    /// Notes that the credential is not good for an environment.
    ///
    /// A connection that has not proven its credential carries one request at a time: the others of the environment, of which
    /// the next is granted its stream as soon as this answer is there, need not try.
    private func note(_ response: OutboundResponse, of environment: DeviceAddress.APNsEnvironment) {
        guard response.status == 403 else { return }
        let answer = APNsAnswer(response, now: provider.clock.now())
        guard answer.concernsEnvironment, case .certain(let refusal) = Finding(answer) else { return }
        state.withLock { $0.refusals[environment] = refusal }
    }

    private func post(
        _ url: String,
        _ environment: DeviceAddress.APNsEnvironment,
        topic: String,
        id: String,
        token: ProviderToken?,
        with current: CurrentCredential<APNsCredential>
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
            isStillWanted: { self.verdict(on: environment) == nil && current.isCurrent() },
            whenAnswered: { self.note($0, of: environment) },
            whenNotProcessed: current.whenNotProcessed
        )
        return APNsAnswer(try await transport.execute(request, timeout: provider.timeout), now: provider.clock.now())
    }
}
