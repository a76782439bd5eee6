package struct EventFilter: Sendable, Equatable {
    package var type: EventType?
    package var channelID: ChannelID?
    package var actorID: UserID?
    package var state: EventState?
    /// Accepted then or later.
    package var from: Timestamp?
    /// Accepted before.
    package var to: Timestamp?

    /// All of them, or those that all parts given let through.
    package init(
        type: EventType? = nil,
        channelID: ChannelID? = nil,
        actorID: UserID? = nil,
        state: EventState? = nil,
        from: Timestamp? = nil,
        to: Timestamp? = nil
    ) {
        self.type = type
        self.channelID = channelID
        self.actorID = actorID
        self.state = state
        self.from = from
        self.to = to
    }

    package func matches(_ event: EventStatus) -> Bool {
        (type.map { $0 == event.type } ?? true) && (channelID.map { $0 == event.channelID } ?? true)
            && (actorID.map { $0 == event.actorID } ?? true) && (state.map { $0 == event.state } ?? true)
            && (from.map { $0 <= event.receivedAt } ?? true) && (to.map { event.receivedAt < $0 } ?? true)
    }
}

/// A page of events, newest first.
package struct EventPage: Sendable, Equatable {
    /// The events. There may be fewer than were asked for, even none, although there are more to come: what a page looks at is
    /// bounded, however few of many events match.
    package var items: [EventStatus]
    /// The last event that was looked at, behind which the next page begins; `nil` when there are no more.
    package var next: EventID?

    package init(items: [EventStatus], next: EventID? = nil) {
        self.items = items
        self.next = next
    }
}
