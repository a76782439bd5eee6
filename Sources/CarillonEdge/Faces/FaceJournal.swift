package import CarillonCore

/// What faces answered lately, for the admins of the networks whose requests they were: in memory, of this replica.
package final class FaceJournal: Sendable {
    /// A request and its answer.
    package struct Entry: Sendable, Equatable {
        /// When it was answered.
        package var at: Timestamp
        /// What was asked for, as metrics call it.
        package var operation: String
        /// The status of the answer.
        package var status: Int
        /// Why it was refused or had no effect.
        package var reason: String?
        /// What was accepted.
        package var eventID: EventID?

        /// An entry by its parts.
        package init(at: Timestamp, operation: String, status: Int, reason: String? = nil, eventID: EventID? = nil) {
            self.at = at
            self.operation = operation
            self.status = status
            self.reason = reason
            self.eventID = eventID
        }
    }

    private struct Place: Hashable {
        let network: NetworkID
        let name: String
    }

    /// How many are kept of each network and face.
    package static let depth = 50
    private static let capacity = 2_000

    private let recent = RecentEntries<Place, Entry>(depth: depth, capacity: capacity)

    /// A journal with nothing in it.
    package init() {}

    /// Writes an entry, in the place of the oldest when there are enough.
    package func record(_ entry: Entry, of name: String, in network: NetworkID) {
        recent.record(entry, at: entry.at, in: Place(network: network, name: name))
    }

    /// What was written, the newest first.
    package func entries(of name: String, in network: NetworkID) -> [Entry] {
        recent.entries(in: Place(network: network, name: name))
    }
}
