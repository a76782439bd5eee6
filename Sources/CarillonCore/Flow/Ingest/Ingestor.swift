/// Makes posted events durable and hands them on: the first stage.
///
/// Requests share commits. An accepted event is leased to this replica and handed to its own fan-out in memory; when
/// that is full the row is left for whoever claims it.
package final class Ingestor: Sendable {
    /// The largest body, in bytes, of an event that is handed on in memory: larger ones are claimed from the inbox.
    private static let largestBodyInMemory = 16 << 10

    /// After which time a transaction is given up, so that callers are not kept waiting by a database that hangs.
    package static let deadline = Duration.seconds(5)

    private let commits: Batcher<NetworkID, IncomingEvent, Acceptance>
    private let fanout: any Entrance<PendingEvent>
    private let endpoints: @Sendable (NetworkID) async throws -> [Endpoint]
    private let ids: UUIDv7Generator
    private let clock: WallClock
    private let metrics: PipelineMetrics
    private let statistics: StatisticsRecorder

    /// An ingestor that stores in `inbox` and hands on to `fanout`; `endpoints` knows those of a network.
    package init(
        inbox: some EventInbox,
        fanout: some Entrance<PendingEvent>,
        endpoints: @escaping @Sendable (NetworkID) async throws -> [Endpoint] = { _ in [] },
        ids: UUIDv7Generator,
        clock: WallClock,
        metrics: PipelineMetrics,
        statistics: StatisticsRecorder = StatisticsRecorder(),
        deadline: Duration = deadline
    ) {
        self.fanout = fanout
        self.endpoints = endpoints
        self.ids = ids
        self.clock = clock
        self.metrics = metrics
        self.statistics = statistics
        commits = Batcher(
            weight: { $0.body.count + 512 },
            load: \.load,
            freeThread: inbox.freeThread
        ) { events, lockWait in
            metrics.groupCommit(of: events.count)
            let acceptances = try await UnitOfWork.run(within: deadline) {
                try await inbox.accept(events, lockWait: lockWait)
            }
            // All of a batch at once, so that they are expanded together, too.
            var accepted: [PendingEvent] = []
            var repeated: [PendingEvent] = []
            let now = clock.now()
            for (event, acceptance) in zip(events, acceptances) where event.leased {
                switch acceptance {
                case .accepted(_, let mark):
                    accepted.append(PendingEvent(event, mark))
                    accepted[accepted.count - 1].acceptedAt = now
                case .duplicate: repeated.append(PendingEvent(event))
                }
            }
            fanout.cancel(repeated)
            await fanout.submit(accepted)
            return acceptances
        }
    }

    /// Stores events, all or none, and returns when they are durable; the answer has one receipt for each, in order.
    ///
    /// - Throws: A transient error when the database is away or too much is waiting: nothing of it was promised then.
    package func accept(_ parsed: [ParsedEvent], for network: NetworkID) async throws -> [Receipt] {
        var incoming = try await incoming(parsed, for: network)
        let acceptances = try await store(&incoming, of: network)
        return receipts(for: parsed, acceptances)
    }

    /// Events on their way into the database, for those who store them together with something of their own; what is ignored is left
    /// out.
    package func incoming(_ parsed: [ParsedEvent], for network: NetworkID) async throws -> [IncomingEvent] {
        let endpoints = try await endpoints(network)
        let trace = TraceContext.current
        // Behind what may take long: whoever looks for events by time expects their ids to be hardly younger than this.
        let now = clock.now()
        var incoming: [IncomingEvent] = []
        for case let (content: .known(event), body: body) in parsed.map({ (content: $0.content, body: $0.body) }) {
            incoming.append(
                IncomingEvent(
                    networkID: network,
                    id: EventID(ids.next()),
                    receivedAt: now,
                    event: event,
                    body: body,
                    leased: false
                )
            )
            // What an event says itself was said by whoever made it, the request's header by whoever passed it on last.
            if let trace, event.trace == nil { incoming[incoming.count - 1].event.trace = trace }
            guard !endpoints.isEmpty else { continue }
            incoming[incoming.count - 1].isRelayed = endpoints.keepBody(of: event.type.rawValue, acceptedAt: now)
        }
        return incoming
    }

    package func count(_ incoming: [IncomingEvent], _ acceptances: [Acceptance], of network: NetworkID) {
        guard !incoming.isEmpty else { return }
        statistics.add(to: network) { figures in
            for (event, acceptance) in zip(incoming, acceptances) {
                metrics.events.count(acceptance.isDuplicate ? .duplicate : .accepted)
                figures.count(acceptance, of: event.event.type)
            }
        }
    }

    private func store(_ incoming: inout [IncomingEvent], of network: NetworkID) async throws -> [Acceptance] {
        guard !incoming.isEmpty else { return [] }
        let expanded = incoming.indices.filter { index in
            incoming[index].isExpanded && incoming[index].body.count <= Self.largestBodyInMemory
        }
        let isReserved = fanout.reserve(expanded.map { PendingEvent(incoming[$0]) })
        let reserved = zip(expanded, isReserved).filter(\.1).map(\.0)
        for index in reserved { incoming[index].leased = true }
        do {
            let acceptances = try await commits.submit(incoming, for: network)
            count(incoming, acceptances, of: network)
            return acceptances
        } catch {
            fanout.cancel(reserved.map { PendingEvent(incoming[$0]) })
            metrics.events.count(.refused, by: incoming.count)
            throw error
        }
    }

    private func receipts(for parsed: [ParsedEvent], _ acceptances: [Acceptance]) -> [Receipt] {
        var remaining = acceptances[...]
        return parsed.map { event in
            switch event.content {
            case .ignored:
                metrics.events.count(.ignored)
                return Receipt(id: EventID(ids.next()), status: .ignored)
            case .known:
                switch remaining.popFirst() {
                case .duplicate(let id): return Receipt(id: id, status: .duplicate)
                case .accepted(let id, _): return Receipt(id: id, status: .accepted)
                case nil: return Receipt(id: EventID(ids.next()), status: .ignored)
                }
            }
        }
    }
}

extension PendingEvent {
    /// An event that this replica has just accepted.
    fileprivate init(_ incoming: IncomingEvent, _ mark: EventMark? = nil) {
        self.init(
            networkID: incoming.networkID,
            id: incoming.id,
            receivedAt: incoming.receivedAt,
            mark: mark,
            event: incoming.event,
            leaseToken: 1
        )
    }
}

extension StatisticsFigures {
    fileprivate mutating func count(_ acceptance: Acceptance, of type: EventType) {
        switch acceptance {
        case .accepted: events[type, default: Acceptances()].accepted += 1
        case .duplicate: events[type, default: Acceptances()].duplicate += 1
        }
    }
}
