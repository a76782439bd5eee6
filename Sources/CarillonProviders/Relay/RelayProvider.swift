package import CarillonCore
import NIOHTTP1
import PushHTTP

/// Tells endpoints of events: one signed POST for each (Standard Webhooks 1.0.0).
///
/// Endpoint, secrets and body are read for each attempt, so that what was changed meanwhile holds; what is sent at the same
/// time is read together, of each placement by itself: one that is away keeps nobody else's messages.
package struct RelayProvider: Provider {
    package let name = ProviderName.relay
    /// How long one request may take, from the name to the last byte of the answer.
    package let deadline: Duration

    /// For how long messages of a row are begun: the lease that it was begun with holds for the last of them, too.
    private static let longestRow = Duration.seconds(10)
    /// For how long an endpoint that is disabled is left alone, unless it is enabled before.
    private static let rest = Duration.seconds(300)

    private let client: EndpointClient
    private let messages: Placed<GatheredReading<RelayKey, RelayMessage>>
    private let clock: WallClock

    package init(
        client: EndpointClient,
        source: Placed<any RelaySource>,
        clock: WallClock = .system,
        deadline: Duration = .seconds(15)
    ) {
        self.client = client
        messages = source.map { source in GatheredReading { keys in try await source.relayMessages(keys) } }
        self.clock = clock
        self.deadline = deadline
    }

    /// Sends messages and reports what their endpoint answered to each. After ten failures in a row, when the endpoint says that it
    /// is gone, or when it is slow, the others are not begun.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        let slices = RelaySlices(of: group.relayKeys, in: group.lane.networkID, messages)
        let streak = FailureStreak()
        let end = ContinuousClock.now + Self.longestRow
        await group.sendToEach(
            atMost: DeliveryGroup.messagesAtATime,
            while: { !streak.isLong && .now < end },
            report: { target, outcome in
                streak.note(messageWith: outcome)
                report(target, outcome)
            },
            send: { target in await outcome(of: target, group, slices) }
        )
    }

    private func outcome(of target: Target, _ group: DeliveryGroup, _ slices: RelaySlices) async -> Outcome? {
        guard let key = group.relayKey(of: target), let event = target.event else {
            return .unsendable(reason: "not an endpoint")
        }
        let message: RelayMessage
        do {
            guard let found = try await slices.message(of: key) else { return .unsendable(reason: "endpoint removed") }
            message = found
        } catch {
            return Task.isCancelled ? nil : .deferLane(after: .seconds(1), reason: "could not be read", isOurs: true)
        }
        guard case .observe = message.settings.role else { return .unsendable(reason: "endpoint does not observe") }
        guard message.state == .enabled else { return .deferLane(after: Self.rest, reason: "endpoint disabled") }
        guard !message.secrets.isEmpty else { return .deferLane(after: nil, reason: "no signing secret") }
        guard let body = message.body else { return .unsendable(reason: "body not kept any more") }
        let format = message.settings.format
        let bytes =
            format == .amity
            ? AmityBody(body, about: event)?.bytes : RelayBody(body, about: event, of: group).bytes
        guard let bytes else {
            return .unsendable(reason: "no name for it in the format \(format.rawValue)")
        }
        let call = EndpointCall(
            networkID: key.networkID,
            endpointID: key.endpointID,
            url: message.settings.url,
            secrets: message.secrets,
            messageID: key.eventID.description,
            body: bytes,
            format: format,
            timeout: deadline,
            trace: message.trace
        )
        return await send(call)
    }

    private func send(_ call: EndpointCall) async -> Outcome? {
        let start = ContinuousClock.now
        do {
            let response = try await client.send(call)
            let answer = RelayAnswer(status: response.status, time: ContinuousClock.now - start).description
            return switch Outcome(webhookStatus: response.status, headers: response.headers, now: clock.now()) {
            case .delivered: .delivered(id: answer)
            case .unregister: .unregister(at: nil, reason: answer)
            case .retry(let after, _, _): .retry(after: after, reason: answer)
            case let other: other
            }
        } catch OutboundError.busy {
            // It is our places that are taken, and not the endpoint that fails.
            return .deferLane(after: .seconds(1), reason: OutboundError.busy.rawValue, isOurs: true)
        } catch {
            if error is CancellationError, Task.isCancelled { return nil }
            let (reason, time) = (OutboundError.reason(for: error), ContinuousClock.now - start)
            let answer = RelayAnswer(error: reason, time: time).description
            return error as? OutboundError == .timedOut ? .timedOut(reason: answer) : .retry(after: nil, reason: answer)
        }
    }
}
