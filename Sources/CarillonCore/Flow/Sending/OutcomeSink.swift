import ServiceLifecycle

/// Takes what was sent, to be judged: the entrance of the last stage.
package protocol OutcomeSink: Sendable {
    /// Takes a page of outcomes; pages of one group come in their order.
    func take(_ page: SendPage)
}

/// Takes what was found out about groups, to be written down.
package protocol SettlementSink: Sendable {
    /// Takes a settlement; those of one group are written in the order in which they come.
    func submit(_ settlement: Settlement)

    /// The groups of which something is not written yet, for renewing leases.
    var groups: [DeliveryGroup] { get }

    /// Whether what was found out waits too long to be written, or too much of it.
    var isBehind: Bool { get }

    /// How long a write of settlements is expected to take at the moment.
    var writeTime: Duration { get }

    /// Whether a group's lease must be left to run out.
    func hasAbandoned(_ group: DeliveryGroup) -> Bool

    /// Nothing more will be found out about this group.
    func forget(_ group: DeliveryGroup)
}

extension SettlementSink {
    /// Waits until outcomes are written in time: what is sent before would be more that is sent again if the process died.
    func catchUp() async {
        var pause = Duration.milliseconds(5)
        while isBehind, !Task.isCancelled, !Task.isShuttingDownGracefully {
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(80))
        }
    }
}
