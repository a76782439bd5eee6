/// An immutable fact that a chat backend posted (API section 3).
///
/// A copy is one reference: an event is handed on far more often than it is changed.
package struct Event: Sendable, Equatable {
    /// The sender's own id of this event: the idempotency key together with the network.
    package var sourceID: String {
        get { parts.sourceID }
        set { parts.sourceID = newValue }
    }
    package var type: EventType {
        get { parts.type }
        set { parts.type = newValue }
    }
    /// When it happened by the sender's clock; never more than five minutes ahead of ours.
    package var timestamp: Timestamp {
        get { parts.timestamp }
        set { parts.timestamp = newValue }
    }
    /// The channel it happened in; absent for `user.…` events and for direct notifications that belong to none.
    package var channel: Channel? {
        get { parts.channel }
        set { parts.channel = newValue }
    }
    /// Who caused it: never notified of their own act.
    package var actor: Person? {
        get { parts.actor }
        set { parts.actor = newValue }
    }
    /// The people in `data.members`: those listed at creation, who joined, who left, or of whom a message says that they are
    /// members.
    package var members: [Person] {
        get { parts.members }
        set { parts.members = newValue }
    }
    /// Whom `channel.created` is told to although they are no members yet, and whom `channel.invited` invites.
    package var invited: [Person] {
        get { parts.invited }
        set { parts.invited = newValue }
    }
    /// Of whom `member.joined` says that they were there before: members, added where they are not.
    package var existingMembers: [Person] {
        get { parts.existingMembers }
        set { parts.existingMembers = newValue }
    }
    /// Whom else the event describes, without saying what they have to do with the channel.
    package var people: [Person] {
        get { parts.people }
        set { parts.people = newValue }
    }
    /// Whether of those who joined only they are news who were no members before: a sender may tell of a joining twice.
    package var isOfNewMembersOnly: Bool {
        get { parts.isOfNewMembersOnly }
        set { parts.isOfNewMembersOnly = newValue }
    }
    /// Whether who sends a message is a member of its channel; not so in open channels, where anybody may write.
    package var senderIsMember: Bool {
        get { parts.senderIsMember }
        set { parts.senderIsMember = newValue }
    }
    /// The message, for `message.sent`.
    package var message: Message? {
        get { parts.message }
        set { parts.message = newValue }
    }
    package var mentions: Set<UserID> {
        get { parts.mentions }
        set { parts.mentions = newValue }
    }
    package var mentionsAll: Bool {
        get { parts.mentionsAll }
        set { parts.mentionsAll = newValue }
    }
    /// Limits whom it concerns to these; `nil` when it does not. Nobody is meant when it is empty.
    package var visibleTo: Set<UserID>? {
        get { parts.visibleTo }
        set { parts.visibleTo = newValue }
    }
    /// Whom it does not concern, whoever else it does.
    package var hiddenFrom: Set<UserID> {
        get { parts.hiddenFrom }
        set { parts.hiddenFrom = newValue }
    }
    /// Whether it only keeps the directory true, whatever its type.
    package var isSilent: Bool {
        get { parts.isSilent }
        set { parts.isSilent = newValue }
    }
    /// What is sent, for `notification.direct`.
    package var direct: DirectNotification? {
        get { parts.direct }
        set { parts.direct = newValue }
    }
    /// Where it stands in a trace of its sender's, where that says so. Not part of its JSON.
    package var trace: TraceContext? {
        get { parts.trace }
        set { parts.trace = newValue }
    }

    @Boxed private var parts: Parts

    /// An event by its parts; all that a type does not carry is left out.
    package init(
        sourceID: String,
        type: EventType,
        timestamp: Timestamp,
        channel: Channel? = nil,
        actor: Person? = nil,
        members: [Person] = [],
        message: Message? = nil,
        mentions: Set<UserID> = [],
        mentionsAll: Bool = false,
        visibleTo: Set<UserID>? = nil,
        isSilent: Bool = false,
        direct: DirectNotification? = nil
    ) {
        parts = Parts(
            sourceID: sourceID,
            type: type,
            timestamp: timestamp,
            channel: channel,
            actor: actor,
            members: members,
            message: message,
            mentions: mentions,
            mentionsAll: mentionsAll,
            visibleTo: visibleTo,
            isSilent: isSilent,
            direct: direct
        )
    }

    /// Whether anybody may be notified of it; otherwise it only keeps the directory true.
    package var notifies: Bool { type.notifies && !isSilent }

    private struct Parts: Sendable, Equatable {
        var sourceID: String
        var type: EventType
        var timestamp: Timestamp
        var channel: Channel?
        var actor: Person?
        var members: [Person]
        var invited: [Person] = []
        var existingMembers: [Person] = []
        var people: [Person] = []
        var isOfNewMembersOnly = false
        var senderIsMember = true
        var message: Message?
        var mentions: Set<UserID>
        var mentionsAll: Bool
        var visibleTo: Set<UserID>?
        var hiddenFrom: Set<UserID> = []
        var isSilent: Bool
        var direct: DirectNotification?
        var trace: TraceContext?
    }
}

/// A person as an event or the directory describes them; `nil` means that the source did not say.
package struct Person: Sendable, Equatable {
    package var id: UserID
    package var displayName: String?
    /// A BCP 47 language tag.
    package var locale: String?
    /// What the person is in this network, for toggles that look at the actor's roles.
    package var roles: [String]?
    /// Since when that is so, where it is older than the event. Not part of its JSON.
    package var describedAt: Timestamp?

    /// The longest name to show, in bytes; a channel's, too.
    package static let longestName = 1000
    /// The longest role, in bytes.
    package static let longestRole = 256
    package static let mostRoles = 100

    package init(id: UserID, displayName: String? = nil, locale: String? = nil, roles: [String]? = nil) {
        self.id = id
        self.displayName = displayName
        self.locale = locale
        self.roles = roles
    }
}

/// A chat channel as an event or the directory describes it.
package struct Channel: Sendable, Equatable {
    package var id: ChannelID
    /// The name to show; empty where it is stated that there is none, `nil` where the source did not say.
    package var displayName: String?
    /// The name where no other was ever stated, such as an alias; empty where the id is no word that could stand for one, which
    /// takes away the alias from before when the channel is updated.
    package var fallbackName: String?
    /// Whether it is a conversation of two, which has no name of its own; `nil` means that the source did not say.
    package var isDirect: Bool?
    /// Since when that is so, where it is older than the event. Not part of its JSON.
    package var describedAt: Timestamp?

    package init(id: ChannelID, displayName: String? = nil, fallbackName: String? = nil, isDirect: Bool? = nil) {
        self.id = id
        self.displayName = displayName
        self.fallbackName = fallbackName
        self.isDirect = isDirect
    }

    /// The name that was stated, or else the fallback; empty where there is none, `nil` where nothing was ever said.
    package var knownName: String? {
        for case let name? in [displayName, fallbackName] where !name.isBlank { return name }
        return displayName == nil && fallbackName == nil ? nil : ""
    }

    /// What it is called in a text; `nil` where it has no name and the id must not stand for it.
    ///
    /// - Parameters:
    ///   - stored: What the directory knows of its name, where the event states none.
    ///   - isDirect: Whether it is a conversation of two.
    /// - Returns: Its name, or its id.
    package func shownName(stored: String?, isDirect: Bool) -> String? {
        let known = known(stored: stored)
        if let name = known.knownName { return name.isEmpty ? nil : name }
        return isDirect ? nil : id.rawValue
    }

    /// The channel with what the directory knows of its name, where the event states none.
    package func known(stored: String?) -> Channel {
        guard displayName == nil, let stored else { return self }
        var channel = self
        channel.displayName = stored
        return channel
    }
}

/// A chat message, as far as a notification needs it.
package struct Message: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case text
        case image
        case other
    }

    /// The sender's id of the message, when given.
    package var id: String?
    package var kind: Kind
    /// What its sender calls what it holds, where that says more than ``kind``: only for whoever reads the canonical event.
    package var typeName: String?
    /// Its words; empty when there are none.
    package var text: String
    /// What somebody wrote beside a picture or other content.
    package var caption: String?
    /// What it is, where it is neither words nor a picture and has a name of its own.
    package var special: Special?

    /// What may be neither words nor a picture: `message.kind` (API section 7).
    package enum Special: String, Sendable, CaseIterable {
        case poll
        case location
        case file
        /// Words that only its recipients can read.
        case encrypted
        case sticker
        case call
    }

    package init(
        id: String? = nil,
        kind: Kind,
        typeName: String? = nil,
        text: String,
        caption: String? = nil,
        special: Special? = nil
    ) {
        self.id = id
        self.kind = kind
        self.typeName = typeName
        self.text = text
        self.caption = caption
        self.special = special
    }
}
