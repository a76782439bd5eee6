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
            if row.targets.count > 1, !row.leased {
                try takeOut(event, of: row, until: expiry, ids)
            } else {
                try hasten(row, until: expiry)
            }
        }
        return !waiting.isEmpty
    }

    private func hasten(_ group: DeliveryGroup, until expiry: Timestamp) throws {
        var group = group
        group.live(until: expiry)
        // What it is due at is the end of its lease while it is leased.
        let dueAt: SQL = group.leased ? "d.run_at" : "least(d.run_at, now())"
        _ = try executeOnQueue(
            """
            UPDATE deliveries d
            SET run_at = \(sql: dueAt), cause = \(group.storedCause),
                expires_at = \(group.expiresAt.stored)
            WHERE d.network_id = \(group.lane.networkID.rawValue) AND d.group_id = \(group.id)
            """
        )
    }

    /// Gives a message a row of its own.
    private func takeOut(
        _ event: EventID,
        of row: DeliveryGroup,
        until expiry: Timestamp,
        _ ids: UUIDv7Generator
    ) throws {
        let others = row.targets.filter { $0.event?.id != event }
        _ = try executeOnQueue(
            """
            UPDATE deliveries d SET targets = \(others.stored(in: row.cause)), size = \(others.count)
            WHERE d.network_id = \(row.lane.networkID.rawValue) AND d.group_id = \(row.id)
            """
        )
        var group = row
        group.id = ids.next()
        group.leaseToken = 1
        group.targets = row.targets.filter { $0.event?.id == event }
        group.beginWithFirst()
        group.live(until: expiry)
        try insert([group])
    }
}
