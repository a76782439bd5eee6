package import CarillonCore
import Postgres

/// Tells endpoints that ask for it what becomes of devices and subscriptions, in the transaction in which it does.
///
/// Whoever changes them asks before the transaction who listens. Mostly nobody does, and nothing more is done for it than
/// that look into memory.
package struct FeedbackWriter: Sendable {
    fileprivate let endpoints: EndpointCache
    fileprivate let ids: UUIDv7Generator

    /// A writer that tells the endpoints of `endpoints`; `ids` makes the ids of what they are told.
    package init(endpoints: EndpointCache, ids: UUIDv7Generator) {
        self.endpoints = endpoints
        self.ids = ids
    }
}

extension FeedbackWriter? {
    /// Who listens in a network; nobody without a writer.
    func listeners(in network: NetworkID) async throws -> FeedbackListeners {
        guard let self else { return .none }
        return FeedbackListeners(endpoints: [network: try await self.endpoints.endpoints(of: network)], ids: self.ids)
    }

    /// Who listens in any network; nobody without a writer.
    func listeners() async throws -> FeedbackListeners {
        guard let self else { return .none }
        return FeedbackListeners(endpoints: try await self.endpoints.endpointsOfAll(), ids: self.ids)
    }
}

/// The endpoints that may be told, as they were known before a transaction.
struct FeedbackListeners: Sendable {
    static let none = FeedbackListeners(endpoints: [:], ids: UUIDv7Generator())

    let endpoints: [NetworkID: [Endpoint]]
    let ids: UUIDv7Generator

    /// Whether anybody, or somebody in a network, asks for any of these.
    func want(_ types: [FeedbackType], in network: NetworkID? = nil) -> Bool {
        if let network { return endpoints[network]?.want(types) == true }
        return endpoints.values.contains { $0.want(types) }
    }

    /// Queues what they are told, in the transaction that did it.
    func tell(_ changes: [(network: NetworkID, change: DirectoryChange)], _ session: borrowing PostgresSession) throws {
        let heard = changes.filter { want([$0.change.type], in: $0.network) }
        guard !heard.isEmpty else { return }
        let now = try session.now()
        let messages = Dictionary(grouping: heard, by: \.network).sorted { $0.key < $1.key }.flatMap {
            network,
            changes in
            endpoints[network, default: []].feedback(on: changes.map(\.change), in: network, at: now, ids: ids)
        }
        try session.insert(messages)
    }

    /// Queues what those of one network are told.
    func tell(_ changes: [DirectoryChange], in network: NetworkID, _ session: borrowing PostgresSession) throws {
        try tell(changes.map { (network, $0) }, session)
    }
}

extension FeedbackType {
    /// What may become of devices.
    static let ofDevices: [FeedbackType] = [.deviceDeleted, .deviceQuarantined, .deviceRegistered, .deviceUnregistered]
    /// What may become of deliveries.
    static let ofDeliveries: [FeedbackType] = [.deliveryDelivered, .deliveryFailed]
}

extension Row {
    /// What happened to a device, from its id, user, provider and app, which begin at a column.
    ///
    /// Nobody is told of what came with a notification, nor of a device whose provider only a later release knows.
    func change(_ happening: DeviceChange.Happening, in network: NetworkID, at column: Int = 0) throws
        -> DirectoryChange?
    {
        let device: DeviceID = try id(column)
        guard !device.isOfAddress, let provider = ProviderName(rawValue: try decode(column + 2)) else { return nil }
        let lane = Lane(networkID: network, provider: provider, appID: try decode(column + 3))
        return .device(DeviceChange(happening, of: device, try id(column + 1), in: lane))
    }
}

extension PostgresSession {
    /// Queues what endpoints are told, in the transaction that does what they are told of.
    func insert(_ messages: [FeedbackMessage]) throws {
        guard !messages.isEmpty else { return }
        try execute(
            """
            INSERT INTO relayed (network_id, event_id, event_type, received_at, body, trace)
            SELECT n.network_id, n.event_id, n.event_type, n.received_at, n.body, n.trace
            FROM unnest(\(messages.map(\.networkID.rawValue)), \(messages.map(\.id.uuid)), \(messages.map(\.type.rawValue)),
                        \(messages.map(\.at.stored)), \(messages.map(\.body.serializedText)), \(messages.map(\.trace?.header)))
                AS n (network_id, event_id, event_type, received_at, body, trace)
            """
        )
        try insert(messages.flatMap(\.groups))
    }
}
