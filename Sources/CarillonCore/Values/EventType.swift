/// What kind of fact an event is: one that Carillon understands, or any other, by its name.
package enum EventType: Sendable {
    case kind(any EventKind.Type)
    /// A kind that this release knows nothing of: senders evolve, and so do we.
    case other(String)

    /// The kinds that Carillon understands, in the order in which people are told of them.
    static let kinds: [any EventKind.Type] = [
        ChannelCreated.self, ChannelUpdated.self, ChannelDeleted.self, ChannelInvited.self, MemberJoined.self,
        MemberLeft.self,
        MessageSent.self, MessageDeleted.self, NotificationDirect.self, UserUpdated.self, UserDeleted.self,
    ]

    package static let known = kinds.map(EventType.kind)
    /// The types that people are notified of; toggles exist for these.
    package static let notifying = known.filter(\.notifies)
    /// The types whose texts come from templates; the texts of the others come with them.
    package static let withTemplates = known.filter(\.hasTemplates)

    package static var channelCreated: Self { .kind(ChannelCreated.self) }
    package static var channelUpdated: Self { .kind(ChannelUpdated.self) }
    package static var channelDeleted: Self { .kind(ChannelDeleted.self) }
    package static var channelInvited: Self { .kind(ChannelInvited.self) }
    package static var memberJoined: Self { .kind(MemberJoined.self) }
    package static var memberLeft: Self { .kind(MemberLeft.self) }
    package static var messageSent: Self { .kind(MessageSent.self) }
    package static var messageDeleted: Self { .kind(MessageDeleted.self) }
    package static var notificationDirect: Self { .kind(NotificationDirect.self) }
    package static var userUpdated: Self { .kind(UserUpdated.self) }
    package static var userDeleted: Self { .kind(UserDeleted.self) }

    package init(_ rawValue: String) { self = Self(known: rawValue) ?? .other(rawValue) }

    /// The type of that name, if Carillon understands it.
    package init?(known rawValue: String) {
        guard let kind = Self.kinds.first(where: { $0.name == rawValue }) else { return nil }
        self = .kind(kind)
    }

    /// What is known of events of this type.
    package var kind: any EventKind.Type {
        switch self {
        case .kind(let kind): kind
        case .other: UnknownKind.self
        }
    }

    /// Its name, in bodies and in the database.
    package var rawValue: String {
        switch self {
        case .kind(let kind): kind.name
        case .other(let name): name
        }
    }

    /// Whether people are notified of it; the others only keep the directory true.
    package var notifies: Bool { kind.notifies }

    package var hasTemplates: Bool { kind.notifies && kind.describesTheChat }
}

extension EventType: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && (left.kind != UnknownKind.self || left.rawValue == right.rawValue)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(kind)) }
}
