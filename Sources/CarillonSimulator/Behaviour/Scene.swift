import NIOCore

/// What every service of a simulator has: its disturbances, who has gone, and where to write down what it got.
struct Scene: Sendable {
    let service: SimulatedService
    let detail: SimulatorConfiguration.Detail
    let traffic: Traffic
    let departures: Departures
    let firstRequests: FirstRequests
    let received: ReceivedNotifications

    /// What a request gets before it is looked at; `nil` to look at it.
    func interruption(_ condition: Traffic.Condition) -> Reply? {
        switch condition.verdict {
        case .refusal: Reply(manner: .refusal)
        case .silence: Reply(manner: .silence)
        case .normal, .storm: nil
        }
    }

    /// Whether a token's wish to fail holds for this request.
    func holds<Refusal>(_ behaviour: Behaviour<Refusal>, for token: String) -> Bool {
        !behaviour.isOnce || firstRequests.isFirst(token)
    }

    /// Remembers a notification with the answer it got, unless the client knows that it was not processed.
    ///
    /// `describe` adds what else is known: with text and payload only when they are wanted.
    func record(
        _ token: String,
        _ reply: Reply,
        reason: String?,
        at time: Duration,
        describe: (inout ReceivedNotification, _ withText: Bool) -> Void
    ) {
        guard !reply.isUnprocessed else { return }
        var notification = ReceivedNotification(
            service: service,
            receivedAt: time,
            deviceToken: token,
            status: reply.status,
            reason: reason
        )
        describe(&notification, detail == .everything)
        received.add(notification)
    }
}
