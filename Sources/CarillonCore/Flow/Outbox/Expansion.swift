/// One page of an event, expanded: what has to be written in one commit.
package struct Expansion: Sendable {
    /// The event, with the fence and with the counts of all pages up to this one.
    package var event: PendingEvent
    /// Where the page before ended: a page is written only once, even when the answer to its commit was lost.
    package var after: PageCursor?
    /// What goes to devices.
    package var groups: [DeliveryGroup]
    /// What endpoints are told of the event, as parts of bundles (``RelayBundles``).
    package var messages: [DeliveryGroup] = []
    /// Where this page ended, or `nil` when it was the last one.
    package var next: PageCursor?
    /// Whether it is the event's first page.
    package var isFirst: Bool { after == nil }
    /// Why it concerned nobody, where that is so and this is the last page.
    package var why: WhyNobody?
    /// Whether the event's body is kept, for endpoints to be told of it.
    package var keepsBody = false

    package init(event: PendingEvent, after: PageCursor? = nil, groups: [DeliveryGroup], next: PageCursor?) {
        self.event = event
        self.after = after
        self.groups = groups
        self.next = next
    }
}

/// Why what waits is not sent any more, as it is written down.
package enum Withdrawal: String, Sendable {
    /// The event's sender, or an admin, took it back.
    case withdrawn
    /// The message that it tells of is gone.
    case deleted
}

/// A group as the database has it now.
package struct RefreshedGroup: Sendable {
    /// The group, without the devices that are gone, with the addresses of today.
    package var group: DeliveryGroup
    /// Devices that are no longer the user's, or no longer active.
    package var gone: [Target]
    /// What the users of the other devices have set.
    package var settings: [UserID: ToggleSettings]
    package var networkToggles: NetworkToggles
    package var withdrawal: Withdrawal?
    /// The moment, or an earlier one.
    package var readPoint: ReadPoint

    package init(
        group: DeliveryGroup,
        gone: [Target],
        settings: [UserID: ToggleSettings],
        networkToggles: NetworkToggles,
        readPoint: ReadPoint
    ) {
        self.readPoint = readPoint
        self.group = group
        self.gone = gone
        self.settings = settings
        self.networkToggles = networkToggles
    }
}

/// What was switched or unregistered in a network since a moment.
package enum Changes: Sendable, Equatable {
    /// Nothing that could forbid a delivery.
    case none
    case users(Set<UserID>)
    case everybody

    /// Whether a delivery to this user has to be looked at again.
    package func touch(_ user: UserID) -> Bool {
        switch self {
        case .none: false
        case .users(let users): users.contains(user)
        case .everybody: true
        }
    }
}
