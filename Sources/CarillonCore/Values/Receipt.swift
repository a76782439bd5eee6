/// What a sender is told about one of its events.
package struct Receipt: Sendable, Equatable {
    /// What became of it.
    package enum Status: String, Sendable {
        /// It is durable and on its way.
        case accepted
        /// It was accepted before; nothing happens twice.
        case duplicate
        /// Its type is unknown; nothing happens.
        case ignored
    }

    /// Our id for the event: the first one's for a duplicate.
    package var id: EventID
    package var status: Status

    package init(id: EventID, status: Status) {
        self.id = id
        self.status = status
    }
}
