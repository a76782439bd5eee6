package import Logging

/// The accepted events that this replica is going to expand: fair between networks, bounded, in memory.
///
/// Each has a leased row in the inbox, so that what is lost with the process is found again.
package final class FanoutQueue: Sendable {
    /// The largest body, in bytes, of an event that is kept in memory: larger ones are claimed from the inbox.
    static let largestBody = 16 << 10

    private let mailbox: FairMailbox<NetworkID, PendingEvent>
    private let inbox: any EventInbox
    private let logger: Logger

    /// A queue for about `capacity` events whose rows are in `inbox`.
    package init(inbox: some EventInbox, capacity: Int = 5_000, logger: Logger) {
        self.inbox = inbox
        self.logger = logger
        mailbox = FairMailbox(capacity: capacity) { $0.weight }
    }

    /// How many events wait.
    package var count: Int { mailbox.count }

    var room: Int { mailbox.room }
    var events: [PendingEvent] { mailbox.elements }

    func reserve(_ count: Int) -> Bool { mailbox.reserve(count) }

    /// Keeps places free for a network's new events; `false` also when it has its share of the queue already.
    func reserve(_ count: Int, for network: NetworkID) -> Bool { mailbox.reserve(count, for: network) }

    func cancelReservation(_ count: Int, for network: NetworkID? = nil) {
        mailbox.cancelReservation(count, for: network)
    }

    /// Puts events into places reserved for them, for `network` if for one; at shutdown they are given back to the inbox
    /// instead.
    func fill(_ events: [PendingEvent], reservedFor network: NetworkID? = nil) async {
        guard !events.isEmpty else { return }
        if !mailbox.fill(events.map { ($0.networkID, $0) }, reservedFor: network) { await giveBack(events) }
    }

    /// Waits for the next events; none at shutdown.
    func take(upTo limit: Int) async -> [PendingEvent] { await mailbox.take(upTo: limit) }

    /// Gives events to whoever claims them first.
    func giveBack(_ events: [PendingEvent]) async {
        guard !events.isEmpty else { return }
        do {
            try await inbox.release(events)
        } catch {
            logger.debug("Events stay leased until their leases run out", metadata: ["error": "\(error)"])
        }
    }

    /// Lets nobody wait any longer.
    func close() { mailbox.close() }

    /// Gives back what is inside of a closed queue.
    func giveBackRest() async { await giveBack(mailbox.drain()) }
}

extension PendingEvent {
    /// About how much memory it takes, in events of the size that is usual.
    fileprivate var weight: Int {
        let people = event.members.count + event.mentions.count
        return 1 + ((event.message?.text.utf8.count ?? 0) + people * 100) / FanoutQueue.largestBody
    }
}
