import CarillonCore
import CarillonTesting

/// A fixed morning: what happens in contract suites happens some seconds after it.
extension StoreScene {
    /// An event as it comes in, with a new id and its body.
    func incoming(
        _ event: Event,
        in network: NetworkID? = nil,
        leased: Bool = false,
        receivedAt: Timestamp? = nil
    ) -> IncomingEvent {
        IncomingEvent(
            networkID: network ?? self.network,
            id: EventID(ids.next()),
            receivedAt: receivedAt ?? WallClock.system.now(),
            event: event,
            body: event.body,
            leased: leased
        )
    }

    /// Accepts events one after the other and answers their ids.
    @discardableResult
    func accept(_ events: Event..., leased: Bool = false) async throws -> [EventID] {
        var ids: [EventID] = []
        for event in events {
            guard case .accepted(let id, _) = try await inbox.accept([incoming(event, leased: leased)]).first else {
                throw UnexpectedAnswer()
            }
            ids.append(id)
        }
        return ids
    }

    @discardableResult
    func acceptTogether(_ events: Event...) async throws -> [Acceptance] {
        try await inbox.accept(events.map { incoming($0) })
    }

    /// The current members of a channel, at most 1000.
    func members(of channel: ChannelID) async throws -> [UserID]? {
        try await directory.members(of: channel, in: network, after: nil, limit: 1000)
    }
}

extension RecipientQuery {
    /// Whom an event concerns that nobody has accepted.
    init(_ event: Event, in network: NetworkID, after: PageCursor? = nil) {
        self.init(networkID: network, eventID: EventID(UUIDv7Generator().next()), event: event, after: after)
    }
}

extension IdempotentRequest {
    /// A request that is answered `first`.
    static func first(of network: NetworkID) -> Self {
        Self(networkID: network, keyHash: [1], bodyHash: [2], answer: Array("first".utf8))
    }
}

/// A port answered something that a later step of a check cannot go on with.
struct UnexpectedAnswer: Error {}

extension Event {
    static func created(
        _ channel: ChannelID,
        by creator: UserID?,
        members: [UserID],
        at time: Int64 = 0,
        id: String? = nil
    ) -> Event {
        Event(
            sourceID: id ?? "created-\(channel)-\(time)",
            type: .channelCreated,
            timestamp: .seconds(time),
            channel: Channel(id: channel),
            actor: creator.map { Person(id: $0) },
            members: members.map { Person(id: $0) }
        )
    }

    static func message(
        _ channel: ChannelID,
        from sender: Person,
        at time: Int64 = 0,
        channelName: String? = nil,
        mentions: Set<UserID> = [],
        id: String? = nil,
        members: [UserID] = []
    ) -> Event {
        Event(
            sourceID: id ?? "message-\(channel)-\(sender.id)-\(time)",
            type: .messageSent,
            timestamp: .seconds(time),
            channel: Channel(id: channel, displayName: channelName),
            actor: sender,
            members: members.map { Person(id: $0) },
            message: Message(id: "m", kind: .text, text: "Hello"),
            mentions: mentions
        )
    }

    static func members(
        _ type: EventType,
        _ channel: ChannelID,
        _ users: [UserID],
        at time: Int64,
        id: String? = nil
    ) -> Event {
        Event(
            sourceID: id ?? "\(type.rawValue)-\(channel)-\(users)-\(time)",
            type: type,
            timestamp: .seconds(time),
            channel: Channel(id: channel),
            members: users.map { Person(id: $0) }
        )
    }

    static func channel(_ type: EventType, _ channel: Channel, at time: Int64) -> Event {
        Event(
            sourceID: "\(type.rawValue)-\(channel.id)-\(time)",
            type: type,
            timestamp: .seconds(time),
            channel: channel
        )
    }

    static func user(_ type: EventType, _ person: Person, at time: Int64) -> Event {
        Event(sourceID: "\(type.rawValue)-\(person.id)-\(time)", type: type, timestamp: .seconds(time), actor: person)
    }

    /// The event as a chat backend posts it.
    var body: [UInt8] { canonicalJSON.serialized }
}

/// When what a removal ended is swept: a test that comes back to it holds for both.
enum SweepTime: CaseIterable {
    case never
    case atOnce

    /// What sweeps, where it is done.
    func sweep(_ scene: StoreScene) -> @Sendable () async throws -> Void {
        switch self {
        case .never: {}
        case .atOnce: { try await scene.passTime() }
        }
    }
}
