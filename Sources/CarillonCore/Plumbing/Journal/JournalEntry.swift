package import struct Foundation.UUID

/// What was answered to a post or a request: for those who wonder what became of it, so without any text or secret.
package struct JournalNote: Sendable, Equatable {
    /// The most bytes of a reason or a name.
    package static let mostBytes = 512
    /// The most events of which it is remembered that they came of it.
    package static let mostEvents = 16

    /// What was asked for, or the verdict on it.
    package var operation: String
    package var status: Int
    /// Why it was refused or had no effect.
    package var reason: String?
    /// The first of what was accepted, or is known already.
    package var eventIDs: [EventID]
    /// Where it was published, as far as that is worth a note.
    package var channel: String?
    /// What it is called by its sender, as far as that is worth a note.
    package var messageID: String?

    /// A note by its parts, which are cut where they are too long.
    package init(
        operation: String,
        status: Int,
        reason: String? = nil,
        eventIDs: [EventID] = [],
        channel: String? = nil,
        messageID: String? = nil
    ) {
        self.operation = operation
        self.status = status
        self.reason = reason?.cut(atBytes: Self.mostBytes)
        self.eventIDs = Array(eventIDs.prefix(Self.mostEvents))
        self.channel = channel?.cut(atBytes: Self.mostBytes)
        self.messageID = messageID?.cut(atBytes: Self.mostBytes)
    }
}

/// A note and when it was written: entries are in the order of their ids, whichever replica wrote them.
package struct JournalEntry: Sendable, Equatable {
    /// A UUIDv7.
    package var id: UUID
    package var note: JournalNote

    package init(id: UUID, note: JournalNote) {
        self.id = id
        self.note = note
    }

    package var at: Timestamp { Timestamp(milliseconds: EventID(id).milliseconds) }
}

/// The key of a journal: each network has journals of its own, such as one for each dialect.
package struct JournalKey: Sendable, Hashable, Comparable {
    package var networkID: NetworkID
    /// What is written down in it.
    package var name: String

    package init(_ name: String, in networkID: NetworkID) {
        self.networkID = networkID
        self.name = name
    }

    /// By network and name.
    package static func < (left: Self, right: Self) -> Bool {
        (left.networkID, left.name) < (right.networkID, right.name)
    }
}

/// Keeps entries for all replicas, the last ``Journal/depth`` of each journal or a few more.
package protocol JournalStore: Sendable {
    /// Writes entries, those that were written before as they are, and forgets older ones of the same journals.
    ///
    /// - Returns: The keys of those that were written: all of them, where the store is one.
    @discardableResult
    func writeJournal(_ entries: [JournalKey: [JournalEntry]]) async throws -> [JournalKey]
    /// The last entries of a journal, at most so many, the newest first.
    func journal(of key: JournalKey, limit: Int) async throws -> [JournalEntry]
}

extension String {
    /// As much of it as fits, without what no JSON text may hold.
    fileprivate func cut(atBytes limit: Int) -> String {
        let text = utf8.contains(0) ? String(unicodeScalars.filter { $0 != "\0" }) : self
        return text.beginning(ofBytes: limit) ?? ""
    }
}
