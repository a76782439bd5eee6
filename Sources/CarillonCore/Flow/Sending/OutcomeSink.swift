import ServiceLifecycle

/// What a provider has reported of a group since the last page.
package struct SendPage: Sendable {
    /// The group as it was handed to the provider.
    package var group: DeliveryGroup
    package var begin: ContinuousClock.Instant
    /// When the first of its outcomes was reported.
    package var since: ContinuousClock.Instant?
    package var outcomes: [(target: Target, outcome: Outcome)]
    package var unreported: [Target]
    /// Whether nothing more will be reported: the unreported ones go back to the queue.
    package var isOver: Bool
    /// Whether it finds out if a paused lane works again.
    package var isProbe: Bool
    /// The time by the database's clock.
    package var time: Timestamp
}

/// Takes what was sent, to be judged and written down: the entrance of the last stage.
package protocol OutcomeSink: Sendable {
    /// Takes a page of outcomes; pages of one group come in their order.
    func take(_ page: SendPage)

    /// Takes what was found out about a group without sending it.
    func submit(_ settlement: Settlement)

    /// The groups of which something is not written yet, for renewing leases.
    var groups: [DeliveryGroup] { get }

    /// Whether what was found out waits too long to be written, or too much of it.
    var isBehind: Bool { get }

    /// How long a write of settlements is expected to take at the moment.
    var writeTime: Duration { get }

    /// Whether a group's lease must be left to run out.
    func hasAbandoned(_ group: DeliveryGroup) -> Bool

    /// Nothing more will be reported of this group.
    func forget(_ group: DeliveryGroup)
}

extension OutcomeSink {
    /// Waits until outcomes are written in time: what is sent before would be more that is sent again if the process died.
    func catchUp() async {
        var pause = Duration.milliseconds(5)
        while isBehind, !Task.isCancelled, !Task.isShuttingDownGracefully {
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(80))
        }
    }
}
