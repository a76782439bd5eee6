package import CarillonCore
import struct Foundation.UUID
package import Postgres

/// The inbox of accepted events in table `inbox`, with the keys that recognise repeated ones in `event_keys`.
package final class PostgresEventInbox: EventInbox {
    let pool: PostgresPool
    let due = DueRows(of: "inbox")
    private let directory = DirectoryCache()

    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// That of a connection that is to spare.
    package func freeThread() -> (any StoreThread)? { pool.lend() }

    /// That takes two round trips: one to learn which events are new, and one for all that follows from it, see
    /// `docs/decisions/0018`.
    package func accept(_ events: [IncomingEvent], lockWait: Duration) async throws -> [Acceptance] {
        guard !events.isEmpty else { return [] }
        return try await accept(events, lockWait: lockWait) { _ in true } ?? []
    }

    /// Commits events together with what `first` writes before them; `nil`, and nothing of either, when that answers `false`.
    func accept(
        _ events: [IncomingEvent],
        lockWait: Duration,
        after first: @escaping @Sendable (borrowing PostgresSession) throws -> Bool
    ) async throws -> [Acceptance]? {
        let batch = IncomingBatch(events)
        let written = try await pool.write(lockWait: lockWait) { session -> Written? in
            guard try first(session) else { return nil }
            guard !batch.events.isEmpty else { return Written() }
            return try write(batch, session)
        }
        guard let written else { return nil }
        directory.learn(written.committed)
        await count(written.uncounted)
        return events.map { event in
            // Of a network that has just been deleted nothing is written, nor would anything of it be delivered.
            let id = written.ids[event.key] ?? event.id
            guard id == event.id else { return .duplicate(id) }
            return .accepted(id, EventMark(block: written.block, position: batch.positions[id, default: 0]))
        }
    }

    /// Counts up versions for what is committed already, without waiting for long. Should that fail, rows that other replicas have read are
    /// used until they are too old.
    private func count(_ networks: Set<NetworkID>) async {
        for network in networks {
            _ = try? await pool.write(lockWait: .milliseconds(25)) { session in
                _ = try session.commit(after: [.countingDirectories(of: [network])])
            }
        }
    }

    private struct Written {
        /// Under which id each event is known.
        var ids: [EventKey: EventID] = [:]
        var block: Int64 = 0
        var committed = DirectoryCache.CommittedBatch()
        /// Networks in which something was changed that others had written after it was looked at.
        var uncounted: Set<NetworkID> = []
    }

    private func write(_ batch: IncomingBatch, _ session: borrowing PostgresSession) throws -> Written {
        var facts = KnownFacts(about: batch.facts, of: batch.networks, in: directory)
        let (known, start) = try Self.recordKeys(of: batch.events, &facts, session)
        let mark = { (id: EventID) in start.mark(of: batch.positions[id, default: 0]) }
        let isNew: (IncomingEvent) -> Bool = { known[$0.key] == $0.id }
        let accepted = batch.events.filter(isNew)
        let stated = accepted.count == batch.events.count ? batch.facts : DirectoryFacts(of: batch.inOrder(isNew))
        let news = facts.leftOut(of: stated, mark: mark)
        let writer = FactWriter(facts: news, known: facts, at: start.moment, mark: mark)
        let rows =
            Self.pendingRows(of: accepted.filter(\.isExpanded), at: start.moment, mark)
            + Self.doneRows(of: accepted.filter { !$0.isExpanded })
        let changed = facts.networksChanged(by: news)
        let counting = changed.isEmpty ? [] : [SQL.countingDirectories(of: changed)]
        // Whom facts remove is known before what follows from that is written.
        let early = news.removesNobody ? nil : try writer.write(session)
        let changes = [SQL].recordingChanges(of: (early?.removed ?? []) + writer.changes)
        let answers = try session.commit(after: (early == nil ? writer.statements : []) + rows + changes + counting)
        let written = try early?.written ?? writer.outcome(answers)
        let counted = try DirectoryVersions(answers.suffix(counting.count))
        let committed = facts.committedBatch(
            of: news,
            written,
            taking: Set(accepted.map(\.networkID)),
            counted: counted
        )
        let uncounted = written.networksChanged.subtracting(changed)
        return Written(ids: known, block: start.number, committed: committed, uncounted: uncounted)
    }

    /// Claims the source ids, and a block of marks for the new ones; answers under which id each is known now, which for a
    /// new one is its own, and for one of a network that there is not none. Looks, on the way, what of the facts is known already.
    /// - Throws: ``PlacementProblem/moving`` where one of the networks has left for another placement.
    private static func recordKeys(
        of events: [IncomingEvent],
        _ facts: inout KnownFacts,
        _ session: borrowing PostgresSession
    ) throws -> (known: [EventKey: EventID], start: TransactionStart) {
        let networks = events.map(\.networkID.rawValue)
        let sources = events.map(\.event.sourceID)
        let window = idempotencyWindow.wholeMilliseconds
        var known: [EventKey: EventID] = [:]
        let claim: SQL = """
            INSERT INTO event_keys AS k (network_id, source_id, event_id, received_at)
            SELECT n.network_id, n.source_id, n.event_id, n.received_at
            FROM unnest(\(networks), \(sources), \(events.map(\.id.uuid)), \(events.map(\.receivedAt.stored)))
                AS n (network_id, source_id, event_id, received_at)
            \(sql: .ofNetworks)
            ON CONFLICT (network_id, source_id)
            DO UPDATE SET event_id = EXCLUDED.event_id, received_at = EXCLUDED.received_at
            WHERE k.received_at AT TIME ZONE 'UTC'
                < EXCLUDED.received_at AT TIME ZONE 'UTC' - \(window) * interval '1 millisecond'
            RETURNING k.network_id, k.source_id, k.event_id
            """
        let (start, answers) = try session.start(with: [claim] + facts.statements)
        try answers.first?.forEach { row in
            known[EventKey(network: try row.id(0), source: try row.decode(1))] = try row.eventID(2)
        }
        try facts.take(answers.dropFirst(), session)
        guard known.count < events.count else { return (known, start) }
        // The conflict has locked these rows, so what is read here stays true until the end of the transaction.
        let others = events.filter { known[$0.key] == nil }
        try session.forEach(
            """
            SELECT k.network_id, k.source_id, k.event_id
            FROM unnest(\(others.map(\.networkID.rawValue)), \(others.map(\.event.sourceID)))
                AS n (network_id, source_id)
            JOIN event_keys k ON k.network_id = n.network_id AND k.source_id = n.source_id
            """
        ) { row in
            known[EventKey(network: try row.id(0), source: try row.decode(1))] = try row.eventID(2)
        }
        let absent = Set(others.lazy.filter { known[$0.key] == nil }.map(\.networkID))
        if !absent.isEmpty, try session.isAnyDeparted(of: Array(absent)) { throw PlacementProblem.moving }
        return (known, start)
    }

    private static func pendingRows(
        of events: [IncomingEvent],
        at moment: PostgresTimestamp,
        _ mark: (EventID) -> EventMark
    ) -> [SQL] {
        guard !events.isEmpty else { return [] }
        let said = events.map(\.event)
        return [
            """
            INSERT INTO inbox (network_id, event_id, source_id, event_type, channel_id, actor_id, received_at, occurred_at,
                               body, trace, leased, mark, run_at)
            SELECT n.network_id, n.event_id, n.source_id, n.event_type, n.channel_id, n.actor_id, n.received_at,
                   n.occurred_at, n.body, n.trace, n.leased, n.mark, n.run_at
            FROM unnest(\(events.map(\.networkID.rawValue)), \(events.map(\.id.uuid)), \(said.map(\.sourceID)),
                        \(said.map(\.type.rawValue)), \(said.map(\.channel?.id.rawValue)), \(said.map(\.actor?.id.rawValue)),
                        \(events.map(\.receivedAt.stored)), \(said.map(\.timestamp.stored)),
                        \(events.map { String(decoding: $0.body, as: UTF8.self) }),
                        \(said.map(\.trace?.header)), \(events.map(\.leased)),
                        \(events.map { mark($0.id).rawValue }),
                        \(events.map { $0.leased ? moment + leaseDuration : moment }))
                AS n (network_id, event_id, source_id, event_type, channel_id, actor_id, received_at, occurred_at, body,
                      trace, leased, mark, run_at)
            \(sql: .ofNetworks)
            """
        ]
    }

    /// What notifies nobody is done when its facts are written.
    private static func doneRows(of events: [IncomingEvent]) -> [SQL] {
        guard !events.isEmpty else { return [] }
        let said = events.map(\.event)
        return [
            """
            INSERT INTO events (network_id, event_id, source_id, event_type, channel_id, actor_id, received_at, trace)
            SELECT n.network_id, n.event_id, n.source_id, n.event_type, n.channel_id, n.actor_id, n.received_at, n.trace
            FROM unnest(\(events.map(\.networkID.rawValue)), \(events.map(\.id.uuid)), \(said.map(\.sourceID)),
                        \(said.map(\.type.rawValue)), \(said.map(\.channel?.id.rawValue)), \(said.map(\.actor?.id.rawValue)),
                        \(events.map(\.receivedAt.stored)), \(said.map(\.trace?.header)))
                AS n (network_id, event_id, source_id, event_type, channel_id, actor_id, received_at, trace)
            \(sql: .ofNetworks)
            """
        ]
    }
}

/// What makes a repeated event one event.
struct EventKey: Hashable, Comparable {
    let network: NetworkID
    let source: Identifier<Event>

    init(network: NetworkID, source: String) {
        self.network = network
        self.source = Identifier(trusted: source)
    }

    static func < (left: Self, right: Self) -> Bool { (left.network, left.source) < (right.network, right.source) }
}

extension IncomingEvent {
    var key: EventKey { EventKey(network: networkID, source: event.sourceID) }
}

/// The events of one commit, each key once: the first wins.
private struct IncomingBatch: Sendable {
    /// In the order in which rows are locked.
    let events: [IncomingEvent]
    /// What they say if all of them are new, as they mostly are.
    let facts: DirectoryFacts
    let networks: Set<NetworkID>
    /// At which position each event arrived.
    let positions: [EventID: Int]

    init(_ incoming: [IncomingEvent]) {
        var seen = Set<EventKey>(minimumCapacity: incoming.count)
        let unique = incoming.filter { seen.insert($0.key).inserted }
        facts = DirectoryFacts(of: unique)
        networks = Set(unique.map(\.networkID))
        positions = Dictionary(uniqueKeysWithValues: unique.enumerated().map { ($1.id, $0) })
        events = unique.map { ($0.key, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Those that pass, in the order in which they arrived.
    func inOrder(_ isIncluded: (IncomingEvent) -> Bool) -> [IncomingEvent] {
        events.filter(isIncluded).sorted { positions[$0.id, default: 0] < positions[$1.id, default: 0] }
    }
}
