package import CarillonCore
import NIOHTTP1
package import PushHTTP

/// Sends one signed POST per device (Standard Webhooks 1.0.0) to the URL that the device was registered with.
///
/// `http` URLs are taken, too: the receiver can verify the signature, but everybody on the way can read the text.
package struct WebhookProvider: Provider {
    package let name = ProviderName.webhook
    /// How long one request may take, from the name to the last byte of the answer.
    package let deadline: Duration

    private let client: OutboundHTTPClient
    private let secrets: RememberedCredentials<[WebhookSecret]>
    private let userAgent: String
    private let clock: WallClock
    private let concurrency: Int

    /// A provider that signs with the secrets that are valid now, and has as many requests of a group on their way at a time as
    /// `concurrency` says. The client has to send to permitted addresses only.
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

    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        let streak = FailureStreak()
        await group.send(
            with: secrets,
            atMost: concurrency,
            while: { !streak.isLong },
            report: { target, outcome in
                streak.note(deviceWith: outcome)
                report(target, outcome)
            },
            begin: { (current) throws(Refusal) in
                guard !current.value.isEmpty else { throw Refusal(.deferLane(after: nil, reason: "no signing secret")) }
                return { await outcome(of: group, to: $0, by: current) }
            }
        )
    }

    /// What became of one device; `nil` when it was not sent, since the task was cancelled or the secrets have changed.
    private func outcome(
        of group: DeliveryGroup,
        to target: Target,
        by current: CurrentCredential<[WebhookSecret]>
    ) async -> Outcome? {
        guard let address = target.address, address.provider == name else {
            return .unsendable(reason: "not a webhook", isOfDevice: true)
        }
        let message = WebhookMessage(group, to: target)
        guard message.fits else { return .payloadTooLarge }
        let finding = await current.finding { current in
            var headers = HTTPHeaders.signed(
                message.body,
                id: message.id,
                secrets: current.value,
                userAgent: userAgent,
                now: clock.now()
            )
            headers.goOn(in: group.cause.trace)
            let request = OutboundRequest(
                url: address.text,
                headers: headers,
                body: message.body,
                lane: group.lane,
                isStillWanted: current.isCurrent,
                whenNotProcessed: current.whenNotProcessed
            )
            let response = try await client.execute(request, timeout: deadline)
            return .certain(Outcome(webhookStatus: response.status, headers: response.headers, now: clock.now()))
        }
        return finding?.ofDevice
    }
}
