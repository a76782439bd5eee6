import CarillonCore
import CarillonEdge
import Synchronization

/// Messages that asked for a push on a channel where none is enabled, for the push log. Nothing is accepted of them that could be
/// looked up later: the latest of each application are remembered here, in memory, of this replica.
final class AblyUnsentLog: Sendable {
    /// A message.
    struct Entry: Sendable {
        /// Which one it is here.
        let serial: Int
        /// When it was published.
        let at: Timestamp
        /// Where.
        let channel: TagID
        /// What it is called.
        let messageID: String
    }

    private struct Place: Hashable {
        let network: NetworkID
        let appID: String
    }

    /// How many are kept of each application.
    static let depth = 100
    private static let capacity = 1_000

    /// Tells those of this replica from others'.
    let id = Base64URL.encode(randomBytes(6))
    private let recent = RecentEntries<Place, Entry>(depth: depth, capacity: capacity)
    private let serial = Atomic(0)

    /// Remembers a message.
    func note(_ messageID: String, on channel: TagID, by caller: AblyCaller, at now: Timestamp) {
        let entry = Entry(
            serial: serial.add(1, ordering: .relaxed).newValue,
            at: now,
            channel: channel,
            messageID: messageID
        )
        recent.record(entry, at: now, in: Place(network: caller.network.id, appID: caller.appID))
    }

    /// The latest messages of the caller's application, the newest first.
    func entries(for caller: AblyCaller) -> [Entry] {
        recent.entries(in: Place(network: caller.network.id, appID: caller.appID))
    }
}
