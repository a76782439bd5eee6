package import CarillonCore
import NIOHTTP1
package import PushHTTP

/// Sends one signed POST per device (Standard Webhooks 1.0.0) to the URL that the device was registered with.
///
/// `http` URLs are taken, too: the receiver can verify the signature, but everybody on the way can read the text.
package struct WebhookProvider: Provider {
    /// `webhook`.
    package let name = ProviderName.webhook
    /// How long one request may take, from the name to the last byte of the answer.
    package let deadline: Duration

    private let client: OutboundHTTPClient
    private let secrets: RememberedCredentials<[WebhookSecret]>
    private let userAgent: String
    private let clock: WallClock
    private let concurrency: Int

    /// A provider.
    /// - Parameters:
    ///   - client: Sends the requests, to permitted addresses only.
    ///   - secrets: Finds the secrets of a network that are valid now; asked once for each group.
    ///   - version: The version of Carillon, for `User-Agent`.
    ///   - clock: The time of `webhook-timestamp`.
    ///   - deadline: How long one request may take.
    ///   - concurrency: How many requests of one group are on their way at a time.
    package init(
        client: OutboundHTTPClient,
        secrets: RememberedCredentials<[WebhookSecret]>,
        version: String,
        clock: WallClock = .system,
        deadline: Duration = .seconds(15),
        concurrency: Int = 64
    ) {
        self.client = client
        self.secrets = secrets
        userAgent = "Carillon/\(version)"
        self.clock = clock
        self.deadline = deadline
        self.concurrency = concurrency
    }

    /// Sends to all targets, a few at a time, and reports each as soon as its receiver has answered.
    ///
    /// Without a secret nothing is sent, and the lane is to be left alone for a while; for a moment only where nobody could read it.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        let found = try? await secrets.credential(of: group.lane.networkID)
        guard let secrets = found, !secrets.value.isEmpty else {
            guard !Task.isCancelled else { return }
            let outcome =
                found == nil
                ? Outcome.deferLane(after: .seconds(5), reason: "credential not readable")
                : .deferLane(after: nil, reason: "no signing secret")
            return group.report(outcome, to: report)
        }
        await group.sendToEach(atMost: concurrency, while: secrets.isCurrent, report: report) { target in
            await outcome(of: group, to: target, secrets: secrets)
        }
    }

    /// What became of one device; `nil` when it was not sent, since the task was cancelled or the secrets have changed.
    private func outcome(
        of group: DeliveryGroup,
        to target: Target,
        secrets: CurrentCredential<[WebhookSecret]>
    ) async -> Outcome? {
        guard case .webhook(let url) = target.address else { return .bug(reason: "not a webhook") }
        let message = WebhookMessage(group, to: target)
        guard message.fits else { return .payloadTooLarge }
        var headers = HTTPHeaders.signed(
            message.body,
            id: message.id,
            secrets: secrets.value,
            userAgent: userAgent,
            now: clock.now()
        )
        headers.goOn(in: group.cause.trace)
        do {
            let request = OutboundRequest(
                url: url,
                headers: headers,
                body: message.body,
                lane: group.lane,
                isStillWanted: secrets.isCurrent
            )
            let response = try await client.execute(request, timeout: deadline)
            return Outcome(webhookStatus: response.status, headers: response.headers, now: clock.now())
        } catch let refusal as EgressRefusal {
            return .bug(reason: refusal.rule.rawValue)
        } catch let error as OutboundError {
            return Outcome(error)
        } catch {
            return Task.isCancelled || !secrets.isCurrent() ? nil : .retry(after: nil, reason: "failed")
        }
    }
}
