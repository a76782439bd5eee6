import CarillonCore
import DequeModule
import Synchronization

/// Messages that were to be pushed on channels where push is off: in memory, of this replica, so that somebody who looks for what
/// was not sent finds why.
final class AblyPushNotes: Sendable {
    /// A message that was not pushed.
    struct Note: Sendable, Equatable {
        var channel: TagID
        var messageID: String
        var at: Timestamp
    }

    private static let depth = 50
    private static let capacity = 1_000

    private let notes = Mutex<[NetworkID: Deque<Note>]>([:])

    /// Writes a note down, in the place of the oldest when there are enough.
    func note(_ note: Note, in network: NetworkID) {
        notes.withLock { notes in
            if notes[network] == nil, notes.count >= Self.capacity, let other = notes.keys.first { notes[other] = nil }
            notes[network, default: []].append(note)
            if let count = notes[network]?.count, count > Self.depth { notes[network]?.removeFirst() }
        }
    }

    /// What was written, the oldest first.
    func notes(in network: NetworkID) -> [Note] { notes.withLock { Array($0[network] ?? []) } }
}
