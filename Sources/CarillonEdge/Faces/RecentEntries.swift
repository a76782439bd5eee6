package import CarillonCore
import DequeModule
import Synchronization

/// The latest entries of each of many places, in memory: so many of each, and of so many places.
package final class RecentEntries<Place: Hashable & Sendable, Entry: Sendable>: Sendable {
    private typealias Kept = (entries: Deque<Entry>, last: Timestamp)

    private let depth: Int
    private let capacity: Int
    private let state = Mutex<[Place: Kept]>([:])

    /// Without any entries.
    ///
    /// - Parameters:
    ///   - depth: How many are kept of each place.
    ///   - capacity: How many places have any.
    package init(depth: Int, capacity: Int) {
        self.depth = max(1, depth)
        self.capacity = max(1, capacity)
    }

    /// Writes an entry, in the place of the oldest when there are enough.
    package func record(_ entry: Entry, at moment: Timestamp, in place: Place) {
        state.withLock { state in
            // Whose last entry is the oldest makes room: a look at all of them, once for each that is new.
            if state[place] == nil, state.count >= capacity,
                let oldest = state.min(by: { $0.value.last < $1.value.last })
            {
                state[oldest.key] = nil
            }
            // Taken out while it is changed, so that it is not copied.
            var kept = state.removeValue(forKey: place) ?? ([], moment)
            if kept.entries.count >= depth { kept.entries.removeFirst() }
            kept.entries.append(entry)
            kept.last = moment
            state[place] = kept
        }
    }

    /// What was written, the newest first.
    package func entries(in place: Place) -> [Entry] {
        state.withLock { ($0[place]?.entries ?? []).reversed() }
    }
}
