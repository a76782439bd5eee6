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

extension DeliveryGroup {
    /// The message to an endpoint about something that was sent just now, which it may still be told for an hour.
    package static func message(
        about event: EventID,
        to endpoint: EndpointID = "e-1",
        in network: NetworkID,
        id: UUID
    ) -> DeliveryGroup {
        let now = WallClock.system.now()
        return DeliveryGroup(
            id: id,
            telling: endpoint,
            of: RelayedEvent(event, .messageSent, receivedAt: now),
            in: network,
            on: RelayTerms(expiresAt: now + .seconds(3_600))
        )
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
