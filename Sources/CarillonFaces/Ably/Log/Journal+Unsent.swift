import CarillonCore
import CarillonEdge
import Foundation

/// Messages that asked for a push on a channel where none is enabled, for the push log: nothing is accepted of them that could be
/// looked up later.
extension Journal {
    func noteUnsent(_ messageID: String, on channel: TagID, by caller: AblyCaller) {
        let note = JournalNote(operation: "unsent", status: 201, channel: channel.rawValue, messageID: messageID)
        record(note, of: caller.unsentName, in: caller.network.id, limit: Self.depth)
    }

    /// The latest messages of the caller's application, the newest first.
    func unsent(by caller: AblyCaller) async throws -> [JournalEntry] {
        try await entries(of: caller.unsentName, in: caller.network.id, limit: Self.depth)
    }
}

extension AblyCaller {
    fileprivate var unsentName: String { "\(FaceName.ably.journalName)/unsent/\(appID)" }
}

extension JournalEntry {
    /// Tells it from others of its millisecond, and keeps their order: what is behind the time in a UUIDv7, as far as it fits.
    var numberInMillisecond: Int {
        let bytes = [id.uuid.6 & 0xF, id.uuid.7, id.uuid.12, id.uuid.13, id.uuid.14, id.uuid.15]
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
