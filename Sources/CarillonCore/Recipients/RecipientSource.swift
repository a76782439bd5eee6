/// A question to the directory: whom does this event concern?
public struct RecipientQuery: Sendable, Equatable {
    /// The network that the event belongs to.
    public var networkID: NetworkID
    /// Only members whom an earlier event made members count, so that a late fan-out does not reach those who came after.
    public var eventID: EventID
    /// The event.
    public var event: Event
    /// Where the former page ended; `nil` for the first page.
    public var after: UserID?

    /// A query for one page of an event's recipients.
    public init(networkID: NetworkID, eventID: EventID, event: Event, after: UserID? = nil) {
        self.networkID = networkID
        self.eventID = eventID
        self.event = event
        self.after = after
    }
}

/// One page of the answer, all of it true at one moment.
public struct RecipientPage: Sendable {
    /// The network's own settings.
    public var settings: NetworkSettings
    /// The names that the directory knows of the event's channel and people.
    public var names: DirectoryNames
    /// The members whom the event may concern, in the order of their ids; actor and joiners are still among them.
    public var recipients: [Recipient]
    /// The last user of a page that is not the last one.
    public var next: UserID?
    /// The moment.
    public var readPoint: ReadPoint

    /// A page by its parts.
    public init(
        settings: NetworkSettings,
        names: DirectoryNames,
        recipients: [Recipient],
        next: UserID? = nil,
        readPoint: ReadPoint
    ) {
        self.settings = settings
        self.names = names
        self.recipients = recipients
        self.next = next
        self.readPoint = readPoint
    }
}

/// What a network decides for all of its notifications.
public struct NetworkSettings: Sendable {
    /// The admin's switches.
    public var toggles: NetworkToggles
    /// The language of those who have not said theirs.
    public var defaultLocale: String?
    /// The network's own templates.
    public var templates: TemplateOverrides

    /// Settings by their parts.
    public init(toggles: NetworkToggles, defaultLocale: String?, templates: TemplateOverrides) {
        self.toggles = toggles
        self.defaultLocale = defaultLocale
        self.templates = templates
    }
}

/// What the directory knows of the channel and the people that an event names; the event's own words go before it.
public struct DirectoryNames: Sendable, Equatable {
    /// The channel's name.
    public var channel: String?
    /// The people's names by id.
    public var people: [UserID: String]
    /// The people's roles by id.
    public var roles: [UserID: [String]]

    /// Names by their parts.
    public init(channel: String? = nil, people: [UserID: String] = [:], roles: [UserID: [String]] = [:]) {
        self.channel = channel
        self.people = people
        self.roles = roles
    }
}

/// A moment in the history of the database, opaque outside of the store: what was committed before it was seen.
public struct ReadPoint: Sendable, Hashable {
    /// The store's own notation.
    public let rawValue: String

    /// A moment in the store's notation.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Knows who is in a channel, what they switched off and where they are reached.
public protocol RecipientSource: Sendable {
    /// One page of recipients for each of the first queries, in their order; at least for the first one.
    ///
    /// A page holds at most ``recipientPageSize`` members; small channels come whole. Once the pages together hold that
    /// many, the rest of the queries is left for another call, so that memory is bounded whatever is asked at once.
    func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage]
}

/// The most members in one page of recipients: what a fan-out holds in memory at a time.
public let recipientPageSize = 20_000
