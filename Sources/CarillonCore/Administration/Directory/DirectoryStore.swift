/// A line of an import.
package enum ImportRecord: Sendable, Equatable {
    case user(Person)
    case channel(Channel)
    case member(ChannelID, UserID)
    /// A device; registered as by `PUT /devices/{device}`.
    case device(Device)
    /// A tag; declared as by `PUT /tags/{tag}`.
    case tag(Tag)
    /// A subscription. That of a device which has gone by the time it is applied is passed over.
    case subscription(Subscriber, TagID)
}

/// How many lines of each kind an import held.
package struct ImportTally: Sendable, Equatable {
    package var users = 0
    package var channels = 0
    package var members = 0
    package var devices = 0
    package var tags = 0
    package var subscriptions = 0

    package init() {}

    package mutating func count(_ record: ImportRecord) {
        switch record {
        case .user: users += 1
        case .channel: channels += 1
        case .member: members += 1
        case .device: devices += 1
        case .tag: tags += 1
        case .subscription: subscriptions += 1
        }
    }
}

/// The users and channels of a network, as corrected by its admin (API section 4).
package protocol DirectoryStore: Sendable {
    /// Replaces a user's description; `true` when the user is new.
    func putUser(_ person: Person, in network: NetworkID) async throws -> Bool
    func user(_ id: UserID, in network: NetworkID) async throws -> Person?
    /// Removes a user with devices, memberships and toggles; `false` when unknown.
    func deleteUser(_ id: UserID, in network: NetworkID) async throws -> Bool
    /// The users whose id or a word of whose name begins with a text, whatever the case; with an empty one all.
    func users(matching text: String, in network: NetworkID, after cursor: SearchCursor?, limit: Int) async throws
        -> SearchPage<Person>
    /// Replaces a channel's description; `true` when the channel is new.
    func putChannel(_ channel: Channel, in network: NetworkID) async throws -> Bool
    func channel(_ id: ChannelID, in network: NetworkID) async throws -> Channel?
    /// Removes a channel with its memberships and its channel toggles; `false` when unknown.
    func deleteChannel(_ id: ChannelID, in network: NetworkID) async throws -> Bool
    /// The channels whose id or a word of whose name begins with a text, whatever the case; with an empty one all.
    func channels(matching text: String, in network: NetworkID, after cursor: SearchCursor?, limit: Int) async throws
        -> SearchPage<Channel>
}

/// Who is in a network's channels, as corrected by its admin.
package protocol MemberStore: Sendable {
    /// The members of a channel in the order of their ids; `nil` when the channel is unknown.
    func members(of channel: ChannelID, in network: NetworkID, after: UserID?, limit: Int) async throws -> [UserID]?
    /// Makes exactly these users the members; adds users and channel to the directory where they are new.
    func replaceMembers(of channel: ChannelID, with users: [UserID], in network: NetworkID) async throws
    /// Makes a user a member; `true` when they were none. Adds user and channel to the directory where they are new.
    func addMember(_ user: UserID, to channel: ChannelID, in network: NetworkID) async throws -> Bool
    /// Ends a membership; `false` when there was none.
    func removeMember(_ user: UserID, from channel: ChannelID, in network: NetworkID) async throws -> Bool
    /// Applies records in their order, in transactions of bounded size.
    ///
    /// `next` answers the following batch, or `nil` at the end. What was applied before something fails stays: to apply
    /// all of it once more has the same result as if nothing had failed.
    func apply(_ next: @escaping @Sendable () throws -> [ImportRecord]?, in network: NetworkID) async throws
}
