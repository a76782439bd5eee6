package import CarillonCore
package import Foundation

extension Device {
    package init(
        _ id: DeviceID,
        of user: UserID,
        _ address: DeviceAddress = .log,
        locale: String? = nil,
        at time: Timestamp = WallClock.system.now()
    ) {
        self.init(id: id, userID: user, address: address, locale: locale, registeredAt: time)
    }
}

extension ProviderCredential {
    /// A credential whose secret nobody reads.
    package static func sample(
        _ provider: ProviderName,
        _ app: String,
        _ identity: JSONObject = JSONObject(),
        at time: Timestamp = .seconds(0)
    ) -> ProviderCredential {
        ProviderCredential(provider: provider, appID: app, identity: identity, material: Secret("{}"), updatedAt: time)
    }
}

extension PendingEvent {
    /// An event that has just been claimed for the first time.
    package init(_ event: Event, in network: NetworkID = "acme", at time: Timestamp = .seconds(0)) {
        self.init(networkID: network, id: EventID(UUID()), receivedAt: time, event: event, leaseToken: 1)
    }
}

extension DeliveryCause {
    /// An event that mentions nobody.
    package init(_ event: EventID, _ type: EventType = .messageSent, in channel: Channel, at time: Timestamp) {
        self.init(eventID: event, eventType: type, channel: channel, actorRoles: [], mentions: [], receivedAt: time)
    }
}

extension DeliveryGroup {
    /// The message to an endpoint about an event, which it may be told for a day.
    package static func message(
        about event: EventID,
        _ type: EventType = .messageSent,
        to endpoint: EndpointID = "e-1",
        in network: NetworkID = "acme",
        id: UUID,
        at time: Timestamp = WallClock.system.now()
    ) -> DeliveryGroup {
        DeliveryGroup(
            id: id,
            telling: endpoint,
            of: RelayedEvent(event, type, receivedAt: time),
            in: network,
            on: RelayTerms(expiresAt: time + .seconds(86_400))
        )
    }

    /// The only message of a group; `nil` when it has none, or several.
    package var relayKey: RelayKey? { relayKeys.count == 1 ? relayKeys[0] : nil }

    package var event: RelayedEvent { RelayedEvent(cause.eventID, cause.eventType, receivedAt: cause.receivedAt) }

    /// What devices are sent; nothing where an endpoint is told of something.
    package var sent: DevicePush {
        get {
            switch payload {
            case .devices(let sent): sent
            case .messages: DevicePush(Push(Notification(locale: "", title: "", body: "")))
            }
        }
        set { payload = .devices(newValue) }
    }
}

extension RelayHistory {
    /// What an endpoint was told lately.
    package func relayDeliveries(
        to endpoint: EndpointID = "e-1",
        in network: NetworkID,
        _ state: RelayState? = nil
    ) async throws -> [RelayDelivery] {
        try await relayDeliveries(to: endpoint, in: network, state: state, only: nil, before: nil, limit: 1_000)
    }
}

extension EndpointStore {
    /// Adds an endpoint with a secret of its own.
    package func addEndpoint(_ endpoint: Endpoint, to network: NetworkID) async throws {
        _ = try await addEndpoint(endpoint, secret: .generate(), of: network, answering: nil)
    }
}

extension FaceBinding {
    /// A name that clients use, bound by a network.
    package init(
        _ face: FaceName,
        _ name: String,
        of network: NetworkID = "acme",
        isPrivate: Bool = false,
        _ settings: JSONObject = JSONObject(),
        at time: Timestamp = .seconds(0)
    ) {
        self.init(
            face: face,
            externalID: name,
            networkID: network,
            isPrivate: isPrivate,
            settings: settings,
            updatedAt: time
        )
    }
}

extension Target {
    /// What became of it at the first attempt.
    package func record(
        _ state: DeliveryState,
        reason: String? = nil,
        at time: Timestamp = .seconds(60),
        effect: DeviceEffect? = nil
    ) -> DeviceRecord {
        DeviceRecord(self, state, attempts: 1, reason: reason, at: time, effect: effect)
    }

    /// Whether the last outcome of a device was an error.
    package var hasError: Bool {
        if case .device(_, _, let hasError) = destination { hasError } else { false }
    }
}

extension ToggleStore {
    /// Replaces a document, whatever it says.
    package func set(
        _ scope: ToggleScope,
        to document: JSONValue,
        in network: NetworkID,
        by writer: Writer = .admin
    ) async throws {
        _ = try await updateToggles(scope, in: network, by: writer, expected: nil) { _ in document }
    }
}

extension DeviceStore {
    /// Registers a device as an admin does.
    package func putDevice(_ device: Device, in network: NetworkID) async throws -> Bool {
        try await putDevice(device, in: network, by: .admin)
    }
}

private let morning = Timestamp(milliseconds: 1_795_168_800_000)

extension Timestamp {
    /// So many seconds after a fixed moment in the past.
    package static func seconds(_ count: Int64) -> Timestamp { morning + .seconds(count) }
}

/// Ids may be written as literals in tests; only there, as nothing checks them.
extension Identifier: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self.init(trusted: value) }
}

/// A user's id stands for the cursor behind that user.
extension PageCursor: ExpressibleByStringLiteral {
    /// The cursor behind a user.
    package init(stringLiteral value: String) { self = .user(UserID(trusted: value)) }
}
