import CarillonCore
import Postgres

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
        try insert(messages.flatMap(\.groups).map { StoredDelivery($0) })
    }
}
