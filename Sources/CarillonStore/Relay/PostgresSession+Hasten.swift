import CarillonCore
import Foundation
import Postgres

extension PostgresSession {
    /// Makes a message due now that waits, and gives it a life until `expiry`; `false` when none waits.
    ///
    /// One that waits with others leaves them. One that is on its way has the others live as long.
    func hasten(
        _ event: EventID,
        to endpoint: EndpointID,
        in network: NetworkID,
        until expiry: Timestamp,
        _ ids: UUIDv7Generator
    ) throws -> Bool {
        let waiting = try queryQueue(
            """
            SELECT d.network_id, d.group_id, d.event_id, d.provider, d.app_id, d.cause, d.locale, d.title, d.body,
                   d.targets, d.attempt, d.lease_token, d.rescues, d.device_counts, d.content, d.leased
            FROM deliveries d
            WHERE d.network_id = \(network.rawValue) AND d.app_id = \(endpoint.rawValue) AND d.provider = 'relay'
                AND d.event_id BETWEEN bundle_floor(\(event.uuid)) AND \(event.uuid)
                AND bundle_has(d.event_id, d.targets, \(event.uuid))
            FOR UPDATE
            """
        ) { row in try row.delivery(leased: row.decode(15)) }
        for row in waiting {
            if row.devices.count > 1, !row.group.leased {
                try takeOut(event, of: row, until: expiry, ids)
            } else {
                try hasten(row.group, until: expiry)
            }
        }
        return !waiting.isEmpty
    }

    private func hasten(_ group: DeliveryGroup, until expiry: Timestamp) throws {
        var cause = group.cause
        let end = max(expiry, group.expiresAt)
        cause.relay?.expiresAt = end
        // What it is due at is the end of its lease while it is leased.
        let dueAt: SQL = group.leased ? "d.run_at" : "least(d.run_at, now())"
        _ = try executeOnQueue(
            """
            UPDATE deliveries d
            SET run_at = \(sql: dueAt), cause = \(cause.stored),
                expires_at = \(end.stored)
            WHERE d.network_id = \(group.lane.networkID.rawValue) AND d.group_id = \(group.id)
            """
        )
    }

    /// Gives a message a row of its own.
    private func takeOut(
        _ event: EventID,
        of row: StoredDelivery,
        until expiry: Timestamp,
        _ ids: UUIDv7Generator
    ) throws {
        let others = row.devices.filter { $0.relayed?.id != event }
        _ = try executeOnQueue(
            """
            UPDATE deliveries d SET targets = \(others.stored(in: row.group.cause)), size = \(others.count)
            WHERE d.network_id = \(row.group.lane.networkID.rawValue) AND d.group_id = \(row.group.id)
            """
        )
        var group = row.group
        group.id = ids.next()
        group.leaseToken = 1
        group.targets = row.devices.filter { $0.relayed?.id == event }.map(\.targetWithoutAddress)
        group.splitOff(livingUntil: expiry)
        try insert([StoredDelivery(group)])
    }
}
