import CarillonCore
import Postgres

/// What settlements say of messages to endpoints, for table `relays`, and of the endpoints themselves.
struct RelayLog {
    private struct Row {
        var type: EventType
        var state: RelayState
        var attempts: Int
        var answer: String
        var at: Timestamp
    }

    /// What happened to an endpoint.
    private struct Effect {
        var hasSucceeded = false
        var error: String?
        /// Why it does not want to be told anything any more.
        var farewell: String?
    }

    /// A gap between failures in which there was nothing to tell: `Retry-After` is obeyed up to 24 h.
    private static let longestGap = Duration.seconds(25 * 3_600)

    private var rows: [RelayKey: Row] = [:]
    private var effects: [Lane: Effect] = [:]
    /// What the transaction began with; its number is the next revision of endpoints.
    private let start: TransactionStart

    init(_ settlements: [Settlement], at start: TransactionStart) {
        self.start = start
        let now = Timestamp(stored: start.moment)
        for settlement in settlements {
            let group = settlement.group
            let targets = Dictionary(group.targets.map { ($0.deviceID, $0) }) { first, _ in first }
            for record in settlement.records {
                guard let target = targets[record.deviceID] else { continue }
                let answer = record.providerMessageID ?? record.reason ?? ""
                let state: RelayState = record.state == .delivered ? .delivered : .failed
                add(target, of: group, state, record.attempts, answer, at: record.at)
                note(record.state, answer, of: group.lane)
            }
            for remainder in settlement.remainders {
                for target in remainder.targets {
                    guard let trouble = settlement.troubles[target.deviceID] else { continue }
                    add(target, of: group, .pending, remainder.attempt, trouble, at: now)
                    note(.pending, trouble, of: group.lane)
                }
            }
        }
    }

    private mutating func add(
        _ target: Target,
        of group: DeliveryGroup,
        _ state: RelayState,
        _ attempts: Int,
        _ answer: String,
        at moment: Timestamp
    ) {
        guard let key = group.relayKey(of: target), let type = target.event?.type else { return }
        rows[key] = Row(type: type, state: state, attempts: attempts, answer: answer, at: moment)
    }

    private mutating func note(_ state: DeliveryState, _ answer: String, of endpoint: Lane) {
        switch state {
        case .delivered: effects[endpoint, default: Effect()].hasSucceeded = true
        case .pending: effects[endpoint, default: Effect()].error = RelayAnswer(answer).error
        case .unregistered: effects[endpoint, default: Effect()].farewell = RelayAnswer(answer).error
        case .expired, .dead, .suppressed: break
        }
    }

    /// Writes what became of the messages, and of the endpoints: one to which nothing has gone through for too long is
    /// disabled, as is one that said that it is gone.
    func write(_ session: borrowing PostgresSession) throws {
        try writeRows(session)
        try writeEffects(session)
    }

    /// Of endpoints that were removed meanwhile nothing is written.
    private func writeRows(_ session: borrowing PostgresSession) throws {
        let rows = rows.sorted {
            ($0.key.networkID, $0.key.endpointID, $0.key.eventID) < (
                $1.key.networkID, $1.key.endpointID, $1.key.eventID
            )
        }
        guard !rows.isEmpty else { return }
        try session.execute(
            """
            INSERT INTO relays AS r (network_id, endpoint_id, event_id, event_type, state, attempts, answer, at)
            SELECT n.network_id, n.endpoint_id, n.event_id, n.event_type, n.state, n.attempts, n.answer, n.at
            FROM unnest(\(rows.map(\.key.networkID.rawValue)), \(rows.map(\.key.endpointID.rawValue)),
                        \(rows.map(\.key.eventID.uuid)), \(rows.map(\.value.type.rawValue)), \(rows.map(\.value.state.rawValue)),
                        \(rows.map(\.value.attempts)), \(rows.map(\.value.answer)), \(rows.map(\.value.at.stored)))
                AS n (network_id, endpoint_id, event_id, event_type, state, attempts, answer, at)
            CROSS JOIN LATERAL (
                SELECT FROM endpoints e
                WHERE e.network_id = n.network_id AND e.endpoint_id = n.endpoint_id
                LIMIT 1
            ) AS present
            ON CONFLICT (network_id, endpoint_id, event_id) DO UPDATE
            SET state = EXCLUDED.state, attempts = EXCLUDED.attempts, answer = EXCLUDED.answer, at = EXCLUDED.at
            """
        )
    }

    private func writeEffects(_ session: borrowing PostgresSession) throws {
        let rows = effects.sorted { $0.key < $1.key }
        guard !rows.isEmpty else { return }
        let moment = start.moment
        let (despairing, lately) = (moment - Endpoint.patience, moment - .seconds(1))
        let silentSince = moment - Self.longestGap
        let hours = Endpoint.patience.components.seconds / 3_600
        // While all goes well the row is written once a second.
        try session.execute(
            """
            UPDATE endpoints e
            SET last_success_at = CASE WHEN v.succeeded THEN \(moment) ELSE e.last_success_at END,
                failing_since = CASE WHEN NOT v.succeeded THEN coalesce(v.failing_since, \(moment)) END,
                failed_at = CASE WHEN NOT v.succeeded THEN \(moment) END,
                last_error = coalesce(v.farewell, v.error),
                state = CASE WHEN v.ends THEN 'disabled' ELSE e.state END,
                state_reason = CASE WHEN v.ends THEN coalesce(v.farewell, v.despair) ELSE e.state_reason END,
                state_at = CASE WHEN v.ends THEN \(moment) ELSE e.state_at END,
                revision = CASE WHEN v.ends THEN \(start.number) ELSE e.revision END
            FROM (
                SELECT present.network_id, present.endpoint_id, n.succeeded, n.error, n.farewell, present.failing_since,
                       \("nothing went through for \(hours) hours") AS despair,
                       present.state = 'enabled' AND (n.farewell IS NOT NULL OR NOT n.succeeded
                           AND present.failing_since < \(despairing)) IS TRUE AS ends
                FROM unnest(\(rows.map(\.key.networkID.rawValue)), \(rows.map(\.key.appID)),
                            \(rows.map(\.value.hasSucceeded)), \(rows.map(\.value.error)), \(rows.map(\.value.farewell)))
                    AS n (network_id, endpoint_id, succeeded, error, farewell)
                CROSS JOIN LATERAL (
                    SELECT s.network_id, s.endpoint_id, s.state,
                           CASE WHEN coalesce(s.failed_at, s.failing_since) >= \(silentSince) THEN s.failing_since END
                               AS failing_since
                    FROM endpoints s
                    WHERE s.network_id = n.network_id AND s.endpoint_id = n.endpoint_id
                        AND (NOT n.succeeded OR n.error IS NOT NULL OR n.farewell IS NOT NULL
                             OR s.failing_since IS NOT NULL OR s.last_error IS NOT NULL
                             OR (s.last_success_at < \(lately)) IS NOT FALSE)
                    LIMIT 1
                    FOR NO KEY UPDATE
                ) AS present
            ) AS v
            WHERE e.network_id = v.network_id AND e.endpoint_id = v.endpoint_id
            """
        )
    }
}
