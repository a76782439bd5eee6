package import CarillonCore
import struct Foundation.UUID
import Synchronization

/// Every port of the service in memory: for tests that are not about PostgreSQL.
///
/// Behaves as the ports' doc comments say, one call after the other; keeps everything for ever.
package final class MemoryStore: Sendable {
    /// What is thrown when the network of a call does not exist.
    package struct UnknownNetwork: Error {
        /// The error.
        package init() {}
    }

    let clock: WallClock
    let ids: UUIDv7Generator
    private let state = Mutex(MemoryState())

    /// An empty store.
    ///
    /// - Parameters:
    ///   - clock: The time by which leases run out and facts are dated.
    ///   - ids: Makes the ids of groups.
    package init(clock: WallClock = .system, ids: UUIDv7Generator = UUIDv7Generator()) {
        self.clock = clock
        self.ids = ids
    }

    /// Lets every call from now on fail, as if the database were away; `nil` ends it.
    package func fail(with error: (any Error)?) {
        state.withLock { $0.failure = error }
    }

    /// Has something be left of a network that is deleted, so that there cannot be another of its id.
    package func keepLeftovers(of network: NetworkID) {
        state.withLock { _ = $0.leftovers.insert(network) }
    }

    /// Lets every lease run out and every delay pass.
    package func expireLeases() {
        let now = clock.now()
        state.withLock { state in
            for id in state.sortedIDs {
                for event in state.networks[id]?.inbox.keys.map(\.self) ?? [] {
                    state.networks[id]?.inbox[event]?.runAt = now
                }
                for group in state.networks[id]?.groups.keys.map(\.self) ?? [] {
                    state.networks[id]?.groups[group]?.runAt = now
                }
                for source in state.networks[id]?.sources.keys.map(\.self) ?? [] {
                    state.networks[id]?.sources[source]?.runAt = now
                }
            }
        }
    }

    /// How often credentials were read, for tests of what is in front of the store.
    package var credentialReadings: Int { state.withLock { $0.credentialReadings } }

    /// How often it was asked which API keys there are.
    package var keyLookups: Int { state.withLock { $0.keyLookups } }

    /// Runs a call alone; what it throws leaves the state as it was.
    func withState<Result: Sendable>(_ body: (inout MemoryState) throws -> Result) throws -> Result {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            var copy = state
            let result = try body(&copy)
            copy.collectChanges()
            state = copy
            return result
        }
    }

    /// Runs a call on one network alone.
    func withNetwork<Result: Sendable>(
        _ id: NetworkID,
        _ body: (inout MemoryNetwork) throws -> Result
    ) throws -> Result {
        try withState { state in
            guard var network = state.networks[id] else { throw UnknownNetwork() }
            defer { state.networks[id] = network }
            return try body(&network)
        }
    }
}

/// All there is.
struct MemoryState {
    var networks: [NetworkID: MemoryNetwork] = [:]
    /// What was answered to requests that may be repeated, by the network of their path and the hash of their key.
    var requests: [NetworkID?: [[UInt8]: (request: IdempotentRequest, at: Timestamp)]] = [:]
    /// Of which former networks something is left.
    var leftovers: Set<NetworkID> = []
    var failure: (any Error)?
    var statistics: [StatisticsRow.Origin: StatisticsRow] = [:]
    /// What was answered lately, the oldest first.
    var journal: [JournalPlace: [JournalEntry]] = [:]
    var credentialReadings = 0
    var keyLookups = 0
    /// What was switched or unregistered, oldest first; a read point is a place in it.
    var changes: [(network: NetworkID, user: UserID?)] = []
    var providerTokens: [String: ProviderToken] = [:]
    var lanes: [Lane: MemoryLane] = [:]
    /// How often bindings and keys of faces were changed.
    var faceChanges: Int64 = 1
    /// The network that was served last.
    var lastServedNetwork: NetworkID?

    /// The networks in the order of their ids.
    var sortedIDs: [NetworkID] { networks.keys.sorted() }

    /// Where the history of changes stands.
    var readPoint: String { "\(changes.count)" }

    fileprivate mutating func collectChanges() {
        for (id, network) in networks where !network.newChanges.isEmpty {
            changes += network.newChanges.map { (id, $0) }
            networks[id]?.newChanges = []
        }
    }
}

/// One network with everything in it.
struct MemoryNetwork {
    var network: Network
    var webhookSecrets: [WebhookSecretRecord] = []
    var outgoingSecrets: [WebhookSecretRecord] = []
    var userTokenKeys: [StoredUserTokenKey] = []
    var apiKeys: [String: StoredAPIKey] = [:]
    var dialects: [DialectName: DialectDocument] = [:]

    var toggles = MemoryToggles()
    var users: [UserID: MemoryUser] = [:]
    var channels: [ChannelID: MemoryChannel] = [:]
    var members: [MemoryMemberKey: MemoryMember] = [:]
    var devices: [DeviceID: Device] = [:]
    /// Those that came with a notification, and nobody registered.
    var transientDevices: Set<DeviceID> = []
    /// The marks of devices' registrations for their users.
    var deviceMarks: [DeviceID: Int] = [:]
    var tags: [TagID: Tag] = [:]
    /// Who subscribes to what, with their marks.
    var subscriptions: [TagID: [Subscriber: Int]] = [:]
    var templates: [MemoryTemplateKey: TemplateOverride] = [:]
    var providerCredentials: [MemoryCredentialKey: ProviderCredential] = [:]
    var endpoints: [EndpointID: MemoryEndpoint] = [:]
    var sources: [SourceID: MemorySource] = [:]
    var faceBindings: [MemoryFaceKey: FaceBinding] = [:]
    var faceKeys: [MemoryFaceKey: StoredFaceKey] = [:]
    /// What was used once, and until when that matters.
    var nonces: [[UInt8]: Timestamp] = [:]
    var messageTexts: [EventID: String] = [:]
    var relayed: [EventID: MemoryRelayed] = [:]
    var relays: [RelayKey: RelayDelivery] = [:]
    var replays: [EndpointID: MemoryReplay] = [:]
    /// The last revision given out to an endpoint.
    var lastRevision: Int64 = 0
    /// When devices that are not in use were put out of use.
    var outOfUse: [DeviceID: Timestamp] = [:]

    var eventKeys: [String: (id: EventID, receivedAt: Timestamp)] = [:]
    var inbox: [EventID: MemoryInboxRow] = [:]
    var events: [EventID: MemoryEventRow] = [:]
    var groups: [UUID: MemoryGroupRow] = [:]
    var records: [EventID: [MemoryRecord]] = [:]
    /// How many there have ever been.
    var recordCount: Int64 = 0
    var deadLetters: [UUID: MemoryDeadLetter] = [:]
    /// Those of events that were withdrawn.
    var withdrawnGroups: Set<UUID> = []
    /// Since when messages are deleted.
    var deletedMessages: [MessageKey: Timestamp] = [:]
    /// The last place given out in the order in which events are accepted and members are made.
    var lastMark = 0
    /// What the current call switches or unregisters; `nil` is everybody.
    var newChanges: [UserID?] = []
}

/// A toggle document.
struct MemoryToggles {
    var document: JSONValue?
    var updatedAt: Timestamp?
    var version: Int64 = 0

    var versioned: Versioned<JSONValue> {
        Versioned(document: document ?? .object(JSONObject()), updatedAt: updatedAt, version: version)
    }

    /// Forgets the document; its version goes on, so that no former one comes back.
    mutating func clear() {
        if document != nil { version += 1 }
        document = nil
        updatedAt = nil
    }
}

/// A user, or what is left of one.
struct MemoryUser {
    var person: Person
    var factsAt: Timestamp
    var isDeleted = false
    var toggles = MemoryToggles()
}

/// A channel, or what is left of one.
struct MemoryChannel {
    var channel: Channel
    var factsAt: Timestamp
    var isDeleted = false
}

/// Names a user's relation to a channel.
struct MemoryMemberKey: Hashable {
    var channel: ChannelID
    var user: UserID
}

/// A user's relation to a channel: membership and toggles.
struct MemoryMember {
    var isMember: Bool
    /// The mark of what made them a member.
    var since: Int
    var factsAt: Timestamp
    var toggles = MemoryToggles()
}

/// Names a credential.
struct MemoryCredentialKey: Hashable {
    var provider: ProviderName
    var appID: String
}

/// Names a template.
struct MemoryTemplateKey: Hashable {
    var eventType: EventType
    var locale: String
}
