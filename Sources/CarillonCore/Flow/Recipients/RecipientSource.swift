/// A question to the directory: who is in this audience, and how are they reached?
package struct RecipientQuery: Sendable, Equatable {
    package var networkID: NetworkID
    /// Only those count who were members when it was accepted, so that a late fan-out does not reach those who came after.
    /// The store knows the order, by no clock; of an event that it does not know, it takes that it is accepted now. `nil` for
    /// one that is only thought of.
    package var eventID: EventID?
    /// The event's position in that order, where it is at hand; the store looks it up otherwise.
    package var mark: EventMark?
    package var event: Event
    package var audience: Audience
    /// Where the former page ended; `nil` for the first page.
    package var after: PageCursor?
    /// Limits the answer to these people, and has it hold those of them, too, whom the event does not concern.
    package var only: Set<UserID>?

    package init(
        networkID: NetworkID,
        eventID: EventID,
        mark: EventMark? = nil,
        event: Event,
        after: PageCursor? = nil
    ) {
        self.networkID = networkID
        self.eventID = eventID
        self.mark = mark
        self.event = event
        audience = event.audience
        self.after = after
    }

    /// What the answer would be for some people were this event accepted now: what it says goes on top of what is known, and
    /// nothing is changed.
    package init(networkID: NetworkID, prospect event: Event, only users: Set<UserID>) {
        self.networkID = networkID
        self.event = event
        audience = event.audience
        only = users
    }
}

/// One page of the answer, all of it true at one moment.
package struct RecipientPage: Sendable {
    package var settings: NetworkSettings
    /// The names that the directory knows of the event's channel and people where the event does not say them.
    package var names: DirectoryNames
    /// The members whom the event may concern, in the order of their ids; actor and joiners are still among them.
    package var recipients: [Recipient]
    /// Those who were asked for and whom the event does not concern.
    package var others: [Recipient] = []
    /// Those of the event's ``Event/questionedMembers`` who were members before it.
    package var membersFromBefore: Set<UserID> = []
    /// Whether the event's message is deleted: nobody is to be told of it any more.
    package var isDeleted = false
    /// Who was a member of the event's channel before it, if that is whom it is meant for; told with its first page.
    package var formerMembers = FormerMembers.some
    /// Where a page ended that is not the last one.
    package var next: PageCursor?
    /// The moment, in the event's network.
    package var readPoint: ReadPoint

    package init(
        settings: NetworkSettings,
        names: DirectoryNames,
        recipients: [Recipient],
        next: PageCursor? = nil,
        readPoint: ReadPoint
    ) {
        self.settings = settings
        self.names = names
        self.recipients = recipients
        self.next = next
        self.readPoint = readPoint
    }
}

/// Who was a member of a channel before an event.
package enum FormerMembers: Sendable {
    case some
    case nobody
    /// Nobody, and nothing has been said of the channel itself.
    case noChannel
}

/// What a network decides for all of its notifications.
package struct NetworkSettings: Sendable {
    package var toggles: NetworkToggles
    /// The language of those who have not said theirs.
    package var defaultLocale: String?
    /// Its own templates for the event's type; nothing is said of others.
    package var templates: TemplateOverrides

    package init(toggles: NetworkToggles, defaultLocale: String?, templates: TemplateOverrides) {
        self.toggles = toggles
        self.defaultLocale = defaultLocale
        self.templates = templates
    }
}

/// A moment in the history of a network, opaque outside of the store: what was committed before it was seen. It says nothing of another
/// network.
package struct ReadPoint: Sendable, Hashable {
    /// The store's own notation.
    package let rawValue: String
    /// The time by the database's clock.
    package let moment: Timestamp

    package init(_ rawValue: String, moment: Timestamp) {
        self.rawValue = rawValue
        self.moment = moment
    }
}

/// Knows who is in a channel, what they switched off and where they are reached.
package protocol RecipientSource: Sendable {
    /// One page of recipients for each of the first queries, in their order; at least for the first one.
    ///
    /// The first page of an event holds at most ``firstRecipientPageSize`` members, so that events can be answered together;
    /// a further one holds at most ``recipientPageSize`` members and about as many devices, and is answered alone when it
    /// is asked for first. Once the pages together hold as many, the rest of the queries is left for another call, so
    /// that memory is bounded whatever is asked at once. A further page that is not asked for first is left, too.
    func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage]
}

extension RecipientSource {
    package func page(for query: RecipientQuery) async throws -> RecipientPage {
        guard let page = try await recipients(for: [query]).first else { throw MissingRecipientPage() }
        return page
    }
}

/// A ``RecipientSource`` did not answer the first of its queries, which it must.
package struct MissingRecipientPage: Error {
    package init() {}
}

/// The most members in the first page of an event's recipients: what others who share its batch wait for.
package let firstRecipientPageSize = 1_000
/// The most members in a further page, and the most devices: a batch of the fan-out holds two of them in memory at the most.
package let recipientPageSize = 10_000
