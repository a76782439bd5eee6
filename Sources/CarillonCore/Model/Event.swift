/// An immutable fact that a chat backend posted (API section 3).
package struct Event: Sendable, Equatable {
    /// The sender's own id of this event: the idempotency key together with the network.
    package var sourceID: String
    /// What happened.
    package var type: EventType
    /// When it happened by the sender's clock; never more than five minutes ahead of ours.
    package var timestamp: Timestamp
    /// The channel it happened in; absent only for `user.…` events.
    package var channel: Channel?
    /// Who caused it: never notified of their own act.
    package var actor: Person?
    /// The people in `data.members`: those listed at creation, who joined, or who left.
    package var members: [Person]
    /// The message, for `message.sent`.
    package var message: Message?
    /// The users whom the message mentions.
    package var mentions: Set<UserID>

    /// An event by its parts; all that a type does not carry is left out.
    package init(
        sourceID: String,
        type: EventType,
        timestamp: Timestamp,
        channel: Channel? = nil,
        actor: Person? = nil,
        members: [Person] = [],
        message: Message? = nil,
        mentions: Set<UserID> = []
    ) {
        self.sourceID = sourceID
        self.type = type
        self.timestamp = timestamp
        self.channel = channel
        self.actor = actor
        self.members = members
        self.message = message
        self.mentions = mentions
    }
}

/// A person as an event or the directory describes them; `nil` means that the source did not say.
package struct Person: Sendable, Equatable {
    /// The person's id.
    package var id: UserID
    /// The name to show.
    package var displayName: String?
    /// A BCP 47 language tag.
    package var locale: String?
    /// What the person is in this network, for toggles that look at the actor's roles.
    package var roles: [String]?

    /// A person of whom at least the id is known.
    package init(id: UserID, displayName: String? = nil, locale: String? = nil, roles: [String]? = nil) {
        self.id = id
        self.displayName = displayName
        self.locale = locale
        self.roles = roles
    }
}

/// A chat channel as an event or the directory describes it.
package struct Channel: Sendable, Equatable {
    /// The channel's id.
    package var id: ChannelID
    /// The name to show; `nil` means that the source did not say.
    package var displayName: String?

    /// A channel of which at least the id is known.
    package init(id: ChannelID, displayName: String? = nil) {
        self.id = id
        self.displayName = displayName
    }
}

/// A chat message, as far as a notification needs it.
package struct Message: Sendable, Equatable {
    /// What a message holds: `text`, `image`, or anything else.
    package enum Kind: String, Sendable, CaseIterable {
        /// Words.
        case text
        /// A picture.
        case image
        /// Anything else.
        case other
    }

    /// The sender's id of the message, when given.
    package var id: String?
    /// What it holds.
    package var kind: Kind
    /// Its words; empty when there are none.
    package var text: String

    /// A message by its parts.
    package init(id: String? = nil, kind: Kind, text: String) {
        self.id = id
        self.kind = kind
        self.text = text
    }
}
