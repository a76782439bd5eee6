package import CarillonCore

/// An event that is not expanded yet.
struct MemoryInboxRow {
    var pending: PendingEvent
    /// Its JSON, as it was posted.
    var body: [UInt8]
    var isLeased: Bool
    /// When it may be claimed: the end of the lease while it is leased.
    var runAt: Timestamp
    var rescues = 0
    /// Its place in the order in which events are accepted and members are made.
    var mark: Int
    /// Why it could not be expanded.
    var failure: String?
}

extension MemoryInboxRow {
    /// Takes it from whoever holds it: no more recipients are looked for.
    mutating func withdraw(at now: Timestamp) {
        pending.isWithdrawn = true
        pending.leaseToken += 1
        isLeased = false
        runAt = now
    }

    /// What the body says now.
    fileprivate var stored: StoredEvent {
        StoredEvent(
            body: body,
            sourceID: pending.event.sourceID,
            receivedAt: pending.receivedAt,
            occurredAt: pending.event.timestamp
        )
    }
}

/// An event that is expanded.
struct MemoryEventRow {
    var sourceID: String
    var type: EventType
    var channelID: ChannelID?
    var actorID: UserID?
    var receivedAt: Timestamp
    var tally: RecipientTally
    /// Why it could not be expanded.
    var failure: String?
    /// Why it concerned nobody.
    var why: WhyNobody?
    /// What came of asking an endpoint.
    var interception: InterceptionReport?
    /// Where it stands in a trace of its sender's.
    var trace: TraceContext?
}

/// How many times work may outlive those who did it before it is set aside.
let memoryMaximumRescues = 5

extension MemoryStore: EventInbox {
    /// Commits events and what they say of users, channels and members; durable when it returns.
    package func accept(_ events: [IncomingEvent], lockWait: Duration) async throws -> [Acceptance] {
        let now = clock.now()
        return try withState { state in
            var acceptances: [Acceptance] = []
            var accepted: [IncomingEvent] = []
            var marks: [EventID: Int] = [:]
            for event in events {
                guard var network = state.networks[event.networkID] else { throw UnknownNetwork() }
                defer { state.networks[event.networkID] = network }
                if let known = network.eventKeys[event.event.sourceID],
                    known.receivedAt >= event.receivedAt - idempotencyWindow
                {
                    acceptances.append(.duplicate(known.id))
                    continue
                }
                network.eventKeys[event.event.sourceID] = (event.id, event.receivedAt)
                let mark = network.nextMark()
                marks[event.id] = mark
                network.insert(event, mark, at: now)
                accepted.append(event)
                acceptances.append(.accepted(event.id))
            }
            let order = accepted.indices.sorted { left, right in
                (accepted[left].event.timestamp, left) < (accepted[right].event.timestamp, right)
            }
            for event in order.map({ accepted[$0] }) {
                state.networks[event.networkID]?.learn(from: event, mark: marks[event.id, default: 0])
            }
            return acceptances
        }
    }

    /// Takes events that nobody is working on, oldest first but at most a share of `limit` for each network.
    package func claimEvents(limit: Int) async throws -> [PendingEvent] {
        let now = clock.now()
        return try withState { state in
            let ready = state.networksInTurn.filter { id in
                state.networks[id]?.inbox.values.contains { $0.runAt <= now } ?? false
            }
            guard !ready.isEmpty else { return [] }
            let share = max(1, (limit + ready.count - 1) / ready.count)
            var claimed: [PendingEvent] = []
            for id in ready where claimed.count < limit {
                state.lastServedNetwork = id
                let due = state.networks[id]?.inbox.values.filter { $0.runAt <= now } ?? []
                let oldest = due.sorted { ($0.runAt, $0.pending.id) < ($1.runAt, $1.pending.id) }
                for row in oldest.prefix(min(share, limit - claimed.count)) {
                    if let event = state.networks[id]?.claim(row, at: now) { claimed.append(event) }
                }
            }
            return claimed.sorted { $0.id < $1.id }
        }
    }

    /// Holds the leases of these events for another ``leaseDuration``; answers those still held.
    package func renew(_ events: [PendingEvent]) async throws -> Set<EventID> {
        let now = clock.now()
        return try withState { state in
            let held = events.filter { state.networks[$0.networkID]?.holds($0) ?? false }
            for event in held { state.networks[event.networkID]?.inbox[event.id]?.runAt = now + leaseDuration }
            return Set(held.map(\.id))
        }
    }

    /// Gives events back, so that any replica can claim them at once.
    package func release(_ events: [PendingEvent]) async throws {
        let now = clock.now()
        try withState { state in
            for event in events where state.networks[event.networkID]?.holds(event) ?? false {
                state.networks[event.networkID]?.inbox[event.id]?.isLeased = false
                state.networks[event.networkID]?.inbox[event.id]?.runAt = now
            }
        }
    }

    /// Notes why these events could not be expanded, for those who ask about them; forgotten as soon as they are.
    package func noteFailure(of events: [PendingEvent], reason: String) async throws {
        try withState { state in
            for event in events where state.networks[event.networkID]?.holds(event) ?? false {
                state.networks[event.networkID]?.inbox[event.id]?.failure = reason
            }
        }
    }
}

extension MemoryState {
    /// The networks, beginning behind the one that was served last.
    var networksInTurn: [NetworkID] {
        let ids = sortedIDs
        guard let last = lastServedNetwork else { return ids }
        return ids.filter { last < $0 } + ids.filter { $0 <= last }
    }
}

extension MemoryNetwork {
    /// Whether the lease of an event is still the one that it was claimed with.
    func holds(_ event: PendingEvent) -> Bool {
        guard let row = inbox[event.id] else { return false }
        return row.isLeased && row.pending.leaseToken == event.leaseToken
    }

    /// Whether the lease is held and the page is the one that follows.
    func holds(_ event: PendingEvent, after cursor: PageCursor?) -> Bool {
        holds(event) && inbox[event.id]?.pending.cursor == cursor
    }

    fileprivate mutating func insert(_ incoming: IncomingEvent, _ mark: Int, at now: Timestamp) {
        guard incoming.isExpanded else {
            events[incoming.id] = MemoryEventRow(
                sourceID: incoming.event.sourceID,
                type: incoming.event.type,
                channelID: incoming.event.channel?.id,
                actorID: incoming.event.actor?.id,
                receivedAt: incoming.receivedAt,
                tally: .nobody,
                trace: incoming.event.trace
            )
            return
        }
        let pending = PendingEvent(
            networkID: incoming.networkID,
            id: incoming.id,
            receivedAt: incoming.receivedAt,
            event: incoming.event,
            leaseToken: 1,
            tally: .nobody
        )
        inbox[incoming.id] = MemoryInboxRow(
            pending: pending,
            body: incoming.body,
            isLeased: incoming.leased,
            runAt: incoming.leased ? now + leaseDuration : now,
            mark: mark
        )
    }

    /// Leases an event; `nil` when it cannot be read or has outlived too many leases, and is set aside, and when only a later
    /// release could read it.
    fileprivate mutating func claim(_ row: MemoryInboxRow, at now: Timestamp) -> PendingEvent? {
        var row = row
        let stored = row.stored
        if case .unknownType = stored {
            row.isLeased = false
            row.runAt = now + unknownKindRest
            row.failure = unknownKindFailure
            inbox[row.pending.id] = row
            if row.pending.receivedAt < now - idempotencyWindow {
                finish(row.pending, failure: unknownKindFailure)
            }
            return nil
        }
        if row.isLeased { row.rescues += 1 }
        row.isLeased = true
        row.runAt = now + leaseDuration
        row.pending.leaseToken += 1
        guard row.rescues <= memoryMaximumRescues, stored != .unreadable else {
            let reason = row.rescues <= memoryMaximumRescues ? "unreadable" : "crash loop"
            finish(row.pending, failure: row.failure.map { "\(reason): \($0)" } ?? reason)
            return nil
        }
        inbox[row.pending.id] = row
        return row.pending
    }

    /// Moves an event out of the inbox.
    mutating func finish(_ pending: PendingEvent, failure: String? = nil, why: WhyNobody? = nil) {
        inbox[pending.id] = nil
        events[pending.id] = MemoryEventRow(
            sourceID: pending.event.sourceID,
            type: pending.event.type,
            channelID: pending.event.channel?.id,
            actorID: pending.event.actor?.id,
            receivedAt: pending.receivedAt,
            tally: pending.tally,
            failure: failure,
            why: why,
            interception: pending.verdict?.report,
            trace: pending.event.trace
        )
    }
}

extension RecipientTally {
    /// Nobody, with every level counted.
    fileprivate static var nobody: RecipientTally {
        var tally = RecipientTally()
        for level in ToggleLevel.allCases { tally.suppressed[level] = 0 }
        return tally
    }
}
