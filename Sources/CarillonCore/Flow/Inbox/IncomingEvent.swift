/// An event on its way into the database, with the id that it gets if it is new.
package struct IncomingEvent: Sendable {
    package var networkID: NetworkID
    package var id: EventID
    package var receivedAt: Timestamp
    /// What it says.
    package var event: Event
    /// Its JSON, as it was posted.
    package var body: [UInt8]
    /// Whether the accepting replica expands it at once; otherwise the first that claims it does.
    package var leased: Bool
    /// Whether endpoints may be told of it, so that it has to be expanded although it notifies nobody.
    package var isRelayed = false

    /// Whether anything is left to be done when its facts are written.
    package var isExpanded: Bool { event.notifies || isRelayed || event.type == .messageDeleted }

    /// So many people are as much to write as an event that names a few.
    private static let usualPeople = 50

    /// As how many events it counts in a commit: each of its people may be two rows.
    var load: Int {
        let people = event.members.count + event.invited.count + event.existingMembers.count + event.people.count
        return 1 + people / Self.usualPeople
    }

    package init(
        networkID: NetworkID,
        id: EventID,
        receivedAt: Timestamp,
        event: Event,
        body: [UInt8],
        leased: Bool
    ) {
        self.networkID = networkID
        self.id = id
        self.receivedAt = receivedAt
        self.event = event
        self.body = body
        self.leased = leased
    }
}

/// What became of an incoming event.
package enum Acceptance: Sendable, Equatable {
    /// It is durable under its new id, at its position in the order of acceptance where the store tells it.
    case accepted(EventID, EventMark? = nil)
    /// The network posted an event of the same source id within the last seven days, which is known by this id.
    case duplicate(EventID)

    var isDuplicate: Bool {
        if case .duplicate = self { true } else { false }
    }
}

/// An accepted event whose recipients have not all been found yet.
package struct PendingEvent: Sendable {
    package var networkID: NetworkID
    package var id: EventID
    package var receivedAt: Timestamp
    /// Its position in the order of acceptance, where the store told it.
    package var mark: EventMark?
    package var event: Event
    /// The fence: a commit that names an older token changes nothing.
    package var leaseToken: Int64
    /// Where the last committed page of recipients ended.
    package var cursor: PageCursor?
    /// The counts of the pages that are committed.
    package var tally: RecipientTally
    /// Whether it was withdrawn: no more recipients are looked for.
    package var isWithdrawn: Bool
    /// What an endpoint said of it; `nil` when none was asked yet.
    package var verdict: Verdict? { didSet { isVerdictStored = false } }
    /// Whether that is in the inbox; one that was just heard goes there with the next page.
    package var isVerdictStored = true
    /// When its sender was told that it is durable, where this replica did that.
    package var acceptedAt: Timestamp?

    package init(
        networkID: NetworkID,
        id: EventID,
        receivedAt: Timestamp,
        mark: EventMark? = nil,
        event: Event,
        leaseToken: Int64,
        cursor: PageCursor? = nil,
        tally: RecipientTally = .init(),
        isWithdrawn: Bool = false,
        verdict: Verdict? = nil
    ) {
        self.networkID = networkID
        self.id = id
        self.receivedAt = receivedAt
        self.mark = mark
        self.event = event
        self.leaseToken = leaseToken
        self.cursor = cursor
        self.tally = tally
        self.isWithdrawn = isWithdrawn
        self.verdict = verdict
    }
}

/// How many people an event concerned and what the toggles said of them, in users.
package struct RecipientTally: Sendable, Equatable {
    /// Everybody whom the event concerned: the sum of all others.
    package var resolved = 0
    /// Those with at least one delivery.
    package var notified = 0
    /// Those whom a level forbade to notify.
    package var suppressed: [ToggleLevel: Int] = [:]
    /// Those whom all levels allowed and an endpoint left out.
    package var intercepted = 0
    /// Those whom all levels allowed but who have no active device.
    package var noDevice = 0

    package init() {}
}

/// The durable inbox of accepted events.
package protocol EventInbox: StoreThreadSource {
    /// Commits events and what they say of users, channels and members; durable when it returns.
    ///
    /// The answer has one element for each event, in order. The events of one call are committed together, so one that
    /// the database refuses fails them all: the caller tries them one by one. What somebody else is writing is waited for
    /// as long as `lockWait`; the error is a ``TransientError/isContention`` when that takes longer.
    func accept(_ events: [IncomingEvent], lockWait: Duration) async throws -> [Acceptance]

    /// Takes events that nobody is working on, oldest first but at most a share of `limit` for each network, and none of networks that
    /// are full.
    ///
    /// An event whose stored body cannot be read any more is set aside as dead and not returned, as is one that was claimed again and again
    /// without getting on or being given back (`crash loop`).
    func claimEvents(limit: Int, excluding full: [NetworkID]) async throws -> [PendingEvent]

    /// How long it is until the first row becomes due, of those whose time comes within `limit`; `nil` when there is none.
    func nextDue(within limit: Duration) async throws -> Duration?

    /// Holds the leases of these events for another ``leaseDuration``, without waiting for what somebody else is writing; answers which.
    func renew(_ events: [PendingEvent]) async throws -> Set<EventID>

    /// Gives events back, so that any replica can claim them after `delay`.
    func release(_ events: [PendingEvent], after delay: Duration) async throws

    /// Notes why these events could not be expanded, for those who ask about them; forgotten as soon as they are.
    func noteFailure(of events: [PendingEvent], reason: String) async throws
}

/// How long a claim lasts unless it is renewed.
package let leaseDuration = Duration.seconds(60)
/// How long an event of a kind that only a later release knows is left alone before it is looked at again; after
/// ``idempotencyWindow`` it is set aside.
package let unknownKindRest = Duration.seconds(600)
/// What is told of an event of such a kind.
package let unknownKindFailure = "of a kind that only a later release knows"
/// How long a source id is remembered.
package let idempotencyWindow = Duration.seconds(7 * 86_400)
/// How long a notification is worth delivering, from acceptance.
package let notificationTimeToLive = Duration.seconds(86_400)
