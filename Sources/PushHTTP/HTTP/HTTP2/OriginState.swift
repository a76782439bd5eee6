import CarillonCore

/// Which connection to one host takes the next request, who waits for one, and when another is to be opened.
///
/// Pure: it says what to do, ``OriginPool`` does it. At most one connection is being opened at a time, and none for as
/// long as one has to prove its credential first, unless that takes too long. Turns of those who wait go round the networks,
/// and then round a network's lanes.
struct OriginState<Connection, Waiter: Sendable> {
    typealias ID = ObjectIdentifier

    /// What becomes of a request.
    enum Answer {
        case send(Connection)
        /// The host speaks HTTP/1.1: it needs a connection of its own.
        case useHTTP1
        /// It waits, as this number; a connection is to be opened if `opens`.
        case wait(number: UInt64, opens: Bool)
        /// Too many wait already.
        case refuse
        case leftAlone
    }

    struct Consequence {
        /// Whom to tell that it is their turn, and over which connection.
        var grants: [(waiter: Waiter, connection: Connection)] = []
        var opens = false
        /// Who waited for a host that is left alone now.
        var unanswered: [Waiter] = []
    }

    private struct Entry {
        let id: ID
        let connection: Connection
        var limit: Int
        var used = 0
    }

    private struct Waiting: Sendable {
        let number: UInt64
        let waiter: Waiter
    }

    private let policy: ConnectionPolicy
    /// How many requests are on their way to the host at a time; `nil` for as many as its connections take.
    private let maximumRequests: Int?
    /// How many of these each lane has.
    private var used: [Lane?: Int] = [:]
    private var entries: [Entry] = []
    private var line: FairQueue<NetworkID?, Lane?, Waiting>
    private var isWatchingProof = false
    private var lastNumber: UInt64 = 0
    private var isOpening = false
    private var speaksHTTP1: Bool
    private var rest = HostRest()

    /// `speaksHTTP1` says that it is known that there is no HTTP/2, as without TLS.
    init(_ policy: ConnectionPolicy, maximumRequests: Int? = nil, speaksHTTP1: Bool) {
        self.policy = policy
        self.maximumRequests = maximumRequests
        self.speaksHTTP1 = speaksHTTP1
        line = FairQueue(limits: FairQueueLimits(weight: policy.maximumWaiting))
    }

    /// Whether nothing is connected, being connected, or waiting, and nothing has to be remembered of the host.
    var isUnused: Bool { entries.isEmpty && !isAwaited && !isOpening && rest.isForgotten(at: .now) }

    var waiting: Int { line.count }

    var isAwaited: Bool { waiting > 0 }

    var connections: [Connection] { entries.map(\.connection) }

    /// Finds a connection for a request.
    mutating func request(of lane: Lane?, _ makeWaiter: () -> Waiter) -> Answer {
        if let connection = take(for: lane) { return .send(connection) }
        let (network, now) = (lane?.networkID, ContinuousClock.now)
        if entries.isEmpty, isLeftAlone { return .leftAlone }
        if speaksHTTP1, entries.isEmpty { return .useHTTP1 }
        guard line.reserve(1, of: network, in: lane, at: now) else { return .refuse }
        lastNumber += 1
        let waiting = Waiting(number: lastNumber, waiter: makeWaiter())
        guard line.fill(waiting, weight: 1, of: network, in: lane, at: now) else { return .refuse }
        return .wait(number: lastNumber, opens: beginOpening())
    }

    /// Whether it is others who have all that a lane waits for.
    func isTakenByOthers(than lane: Lane?) -> Bool {
        maximumRequests != nil && used[lane] == nil && (isFull || !entries.isEmpty)
    }

    /// A request does not wait any longer.
    /// - Returns: Its waiter, unless it has got its turn already.
    mutating func withdraw(_ number: UInt64, of lane: Lane?) -> Waiter? {
        line.remove(of: lane?.networkID, in: lane) { $0.number == number }.first?.waiter
    }

    /// Whether somebody waits for a proof and nobody watches how long that takes; if so, it is watched from now on.
    mutating func beginWatchingProof() -> Bool {
        guard !isWatchingProof, isAwaited, isProving, entries.count < policy.maximumConnections else { return false }
        isWatchingProof = true
        return true
    }

    /// The patience is over.
    /// - Returns: Whether another connection is to be opened beside those that have to prove their credential.
    mutating func endWatchingProof() -> Bool {
        isWatchingProof = false
        return isAwaited && isProving && beginOpening(besideProof: true)
    }

    mutating func opened(_ connection: Connection, id: ID, limit: Int) -> Consequence {
        isOpening = false
        speaksHTTP1 = false
        entries.append(Entry(id: id, connection: connection, limit: limit))
        return consequence()
    }

    /// The host speaks HTTP/1.1.
    /// - Returns: Who waited, to open a connection of their own.
    mutating func openedHTTP1() -> [Waiter] {
        isOpening = false
        speaksHTTP1 = true
        return entries.isEmpty ? emptyLine() : []
    }

    /// No connection came about.
    /// - Returns: Who has nothing left to wait for.
    mutating func openingFailed() -> [Waiter] {
        isOpening = false
        return entries.isEmpty ? emptyLine() : []
    }

    /// No connection was opened, since nobody waited for it any more; somebody may again.
    mutating func openingGivenUp() -> Consequence {
        isOpening = false
        return consequence()
    }

    mutating func requestEnded(on id: ID, of lane: Lane?) -> Consequence {
        if let count = used[lane] { used[lane] = count > 1 ? count - 1 : nil }
        if let index = entries.firstIndex(where: { $0.id == id }) { entries[index].used -= 1 }
        return isAwaited ? consequence() : Consequence()
    }

    /// A connection takes another number of requests at a time from now on.
    mutating func limitChanged(of id: ID, to limit: Int) -> Consequence {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return Consequence() }
        entries[index].limit = limit
        return consequence()
    }

    mutating func retired(_ id: ID) -> Consequence {
        entries.removeAll { $0.id == id }
        return consequence()
    }

    /// A connection was ended over which too much came that means nothing: for a while no other one is opened.
    mutating func sentAway(_ id: ID) -> Consequence {
        rest.begin(at: .now)
        return retired(id)
    }

    /// The connection, if it is open and carries no request.
    func idle(_ id: ID) -> Connection? {
        entries.first { $0.id == id && $0.used == 0 }?.connection
    }

    /// Lets go of a connection that carries no request.
    /// - Returns: The connection, which is to end; `nil` when it is needed again by now.
    mutating func dropIdle(_ id: ID) -> Connection? {
        guard !isAwaited, let index = entries.firstIndex(where: { $0.id == id && $0.used == 0 }) else { return nil }
        return entries.remove(at: index).connection
    }

    private var isFull: Bool { maximumRequests.map { $0 <= used.values.reduce(0, +) } ?? false }

    /// The connection that takes one more.
    private var free: Int? { isFull ? nil : entries.firstIndex { $0.used < $0.limit } }

    private mutating func take(for lane: Lane?) -> Connection? {
        guard let index = free else { return nil }
        entries[index].used += 1
        if maximumRequests != nil { used[lane, default: 0] += 1 }
        return entries[index].connection
    }

    private mutating func consequence() -> Consequence {
        var consequence = Consequence()
        let now = ContinuousClock.now
        while isAwaited, free != nil {
            for grant in line.next(upTo: 1, at: now) {
                if let connection = take(for: grant.lane) {
                    consequence.grants.append((grant.item.waiter, connection))
                }
                line.finished(grant, at: now)
            }
        }
        consequence.opens = isAwaited && beginOpening()
        if entries.isEmpty, isLeftAlone { consequence.unanswered = emptyLine() }
        return consequence
    }

    /// Whether no connection is opened for a while.
    private var isLeftAlone: Bool { !rest.isOver(at: .now) }

    private var isProving: Bool { policy.provesCredentialFirst && entries.contains { $0.limit <= 1 } }

    private mutating func beginOpening(besideProof: Bool = false) -> Bool {
        guard !isOpening, !isFull, besideProof || !isProving, entries.count < policy.maximumConnections, !isLeftAlone
        else {
            return false
        }
        isOpening = true
        return true
    }

    private mutating func emptyLine() -> [Waiter] {
        defer { line.updateItems { _ in nil } }
        return line.items.map(\.waiter)
    }
}

/// How long a host is left alone whose connections had to be ended for what it sent: a second, and twice as long each time, up to a
/// minute. Whoever has behaved for a minute begins with a second again.
struct HostRest {
    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private var length = Duration.zero
    private var end: ContinuousClock.Instant?

    /// Begins a rest; what several connections did at a time is one.
    mutating func begin(at now: ContinuousClock.Instant) {
        guard isOver(at: now) else { return }
        length = isForgotten(at: now) ? Self.shortest : min(Self.longest, length * 2)
        end = now + length
    }

    /// Whether the host may be connected to.
    func isOver(at now: ContinuousClock.Instant) -> Bool {
        end.map { $0 <= now } ?? true
    }

    /// Whether the next rest is as long as the first one.
    func isForgotten(at now: ContinuousClock.Instant) -> Bool {
        end.map { $0 + Self.longest <= now } ?? true
    }
}
