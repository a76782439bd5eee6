import Synchronization

/// The accepting side has more waiting than it can hold: the caller should come back later.
package struct Overloaded: TransientError, CustomStringConvertible {
    /// Trying again later can help.
    package var isTransient: Bool { true }
    /// Names nothing of the caller's.
    package var description: String { "too many events are waiting to be stored" }
}

/// Lets the requests that arrive while a commit is in flight share the next one.
///
/// A flight takes whatever waits as soon as the last one is back, so that an idle service commits each request at once and
/// a busy one commits hundreds together; see ``BatchPacing`` for when another one takes off beside it. Tenants take turns in
/// a flight, and none of them holds more than half of what can wait. Who has nothing in the air goes ahead, in a flight with
/// others like that, while those who have fill flights with what they have lots of.
///
/// A tenant whose rows somebody else holds would let everybody wait who shares its flights. So a flight that meets a lock
/// goes again tenant by tenant, and who meets it then flies apart: one flight at a time for all such tenants, until for a
/// while no lock was met.
final class GroupCommit<Tenant: Hashable & Sendable, Item: Sendable, Receipt: Sendable>: Sendable {
    /// Commits the items of one flight together, or fails them together, waiting at most so long for what others have
    /// locked; one receipt for each item, in order.
    typealias Commit = @Sendable (_ items: [Item], _ lockWait: Duration) async throws -> [Receipt]
    /// Hands on what a flight made durable, all together, before its callers are answered.
    typealias HandOver = @Sendable (_ items: [Item], _ receipts: [Receipt]) async -> Void

    fileprivate typealias Line = WaitingLine<Tenant, Item, Receipt>

    private struct State {
        var shared = Line()
        var apart = Line()
        /// Who flies apart, and until when if no lock is met.
        var isolated: [Tenant: ContinuousClock.Instant] = [:]
        var pacing: BatchPacing
        var fliesApart = false
        var fliesAhead = false
        /// How many items of each tenant are in the air in flights for all.
        var aboard: [Tenant: Int] = [:]
        /// How many that are of all.
        var itemsAboard = 0

        init(_ pacing: BatchPacing) { self.pacing = pacing }

        /// Whether a tenant may have a flight that others in the air keep it waiting for, each of whom has so many items there.
        func mayGoAhead(_ tenant: Tenant, of bulk: Int) -> Bool {
            guard !fliesAhead, !aboard.isEmpty, aboard[tenant] == nil else { return false }
            return itemsAboard >= bulk * aboard.count
        }

        mutating func board(upTo limit: Int, where isMeant: (Tenant) -> Bool = { _ in true }) -> [Line.Submission] {
            let submissions = shared.next(upTo: limit, where: isMeant)
            for submission in submissions {
                aboard[submission.tenant, default: 0] += submission.items.count
                itemsAboard += submission.items.count
            }
            return submissions
        }

        mutating func disembark(_ submissions: [Line.Submission]) {
            for submission in submissions {
                let rest = aboard[submission.tenant, default: 0] - submission.items.count
                aboard[submission.tenant] = rest > 0 ? rest : nil
                itemsAboard -= submission.items.count
            }
        }

        mutating func takeOff(at now: ContinuousClock.Instant) -> TakeOff {
            if pacing.begin(waiting: shared.count, at: now) { return .now(now) }
            return pacing.momentToLookAgain(waiting: shared.count).map { .later($0) } ?? .none
        }

        var waitingWeight: Int { shared.weight + apart.weight }

        func waitingWeight(of tenant: Tenant) -> Int { shared.weight(of: tenant) + apart.weight(of: tenant) }
    }

    /// Whether an attempt was let in, and which flights have to begin for it.
    private enum Admission {
        case refused
        case lined(TakeOff)
        case takesOffAhead
        case takesOffApart
    }

    /// Whether what waits goes with another flight.
    private enum TakeOff {
        /// No: with one of those in the air, or with one that is looked after already.
        case none
        case later(ContinuousClock.Instant)
        case now(ContinuousClock.Instant)
    }

    private let state: Mutex<State>
    private let commit: Commit
    private let handOver: HandOver
    private let weight: @Sendable (Item) -> Int
    private let limits: GroupCommitLimits

    /// A group commit.
    ///
    /// - Parameters:
    ///   - limits: How much it takes on.
    ///   - weight: About how many bytes an item takes in memory.
    ///   - commit: Commits one flight.
    ///   - handOver: Hands on what a flight made durable; never called for a flight whose callers are told of a failure.
    init(
        limits: GroupCommitLimits,
        weight: @Sendable @escaping (Item) -> Int,
        commit: @escaping Commit,
        handOver: @escaping HandOver = { _, _ in }
    ) {
        self.limits = limits
        let pacing = BatchPacing(maximum: limits.flights, crowd: limits.crowd, patience: limits.patience)
        state = Mutex(State(pacing))
        self.weight = weight
        self.commit = commit
        self.handOver = handOver
    }

    /// How many bytes wait for a flight.
    var waitingWeight: Int { state.withLock { $0.waitingWeight } }

    /// Commits a tenant's items, all or none; returns when they are durable.
    ///
    /// - Throws: ``Overloaded`` at once when too much waits, ``DeadlineExceeded`` or the commit's own error otherwise.
    func submit(_ items: [Item], for tenant: Tenant) async throws -> [Receipt] {
        let weight = items.reduce(0) { $0 + self.weight($1) }
        return try await withCheckedThrowingContinuation { continuation in
            let submission = Line.Submission(
                tenant: tenant,
                items: items,
                weight: weight,
                since: .now,
                continuation: continuation
            )
            // Unstructured on purpose: a flight carries many callers' items and must not end with any one of them.
            switch admit(submission) {
            case .refused: continuation.resume(throwing: Overloaded())
            case .lined(let takeOff): begin(takeOff)
            case .takesOffAhead: Task { await flyAhead() }
            case .takesOffApart: Task { await flyApart() }
            }
        }
    }

    private func begin(_ takeOff: TakeOff) {
        switch takeOff {
        case .none: break
        case .later(let moment): Task { await takeOffLater(at: moment) }
        case .now(let start): Task { await fly(start) }
        }
    }

    private func admit(_ submission: Line.Submission) -> Admission {
        state.withLock { state in
            let others = state.waitingWeight - state.waitingWeight(of: submission.tenant)
            let own = state.waitingWeight - others + submission.weight
            guard own <= (limits.waitingWeight - others) / 2 else { return .refused }
            if state.isolated[submission.tenant] != nil {
                state.apart.append(submission)
                guard !state.fliesApart else { return .lined(.none) }
                state.fliesApart = true
                return .takesOffApart
            }
            state.shared.append(submission)
            let now = ContinuousClock.now
            guard state.pacing.begin(waiting: state.shared.count, at: now) else {
                guard state.mayGoAhead(submission.tenant, of: limits.bulk) else {
                    return .lined(state.takeOff(at: now))
                }
                state.fliesAhead = true
                return .takesOffAhead
            }
            return .lined(.now(now))
        }
    }

    // MARK: Flights for all

    private func fly(_ start: ContinuousClock.Instant) async {
        var start = start
        while true {
            let (submissions, rest) = state.withLock { state in
                (state.board(upTo: limits.itemsPerFlight), state.takeOff(at: .now))
            }
            begin(rest)
            await fly(submissions)
            let takeOff = state.withLock { state in
                state.disembark(submissions)
                state.pacing.end(start)
                return state.takeOff(at: .now)
            }
            guard case .now(let next) = takeOff else { return begin(takeOff) }
            start = next
        }
    }

    /// Flies with those who have nothing in the air, until nobody like that waits.
    private func flyAhead() async {
        while true {
            let (submissions, takeOff) = state.withLock { state in
                let submissions = state.board(upTo: limits.itemsPerFlight) { [aboard = state.aboard] in
                    aboard[$0] == nil
                }
                state.fliesAhead = !submissions.isEmpty
                return (submissions, state.takeOff(at: .now))
            }
            begin(takeOff)
            guard !submissions.isEmpty else { return }
            await fly(submissions, first: true)
            state.withLock { $0.disembark(submissions) }
        }
    }

    private func fly(_ submissions: [Line.Submission], first: Bool = false) async {
        guard !submissions.isEmpty else { return }
        // Where many would have to go again one after the other, waiting costs less.
        let tenants = Set(submissions.lazy.map(\.tenant)).count
        let areFew = tenants > 1 && tenants <= limits.fewTenants
        let lockWait = areFew ? limits.sharedLockWait : limits.soleLockWait
        do {
            try await Precedence.$isGranted.withValue(first) {
                try await commitTogether(submissions, lockWait: lockWait)
            }
        } catch  where error.isContention {
            await flyByTenant(submissions)
        } catch {
            await land(submissions, error)
        }
    }

    /// Lets what waits behind a flight that takes long go with another one.
    private func takeOffLater(at moment: ContinuousClock.Instant) async {
        try? await Task.sleep(until: moment)
        let takeOff = state.withLock { state in
            state.pacing.lookAgain()
            return state.takeOff(at: .now)
        }
        begin(takeOff)
    }

    /// One tenant's locked row must not hold up the others: who meets one goes again when all others have landed.
    private func flyByTenant(_ submissions: [Line.Submission]) async {
        var shares = Array(Dictionary(grouping: submissions, by: \.tenant).values)
        for lockWait in [limits.shortLockWait, limits.soleLockWait] {
            var late: [[Line.Submission]] = []
            for share in shares {
                do {
                    try await commitTogether(share, lockWait: lockWait)
                } catch  where error.isContention {
                    late.append(share)
                } catch {
                    await land(share, error)
                }
            }
            shares = late
        }
        for share in shares { isolate(share) }
    }

    // MARK: Flights apart

    /// Lets a tenant fly apart, with what just failed before what it has waiting.
    private func isolate(_ share: [Line.Submission]) {
        guard let tenant = share.first?.tenant else { return }
        let takesOff = state.withLock { state in
            state.isolated[tenant] = .now + limits.isolation
            state.apart.append(contentsOf: share + state.shared.removeAll(of: tenant))
            guard !state.fliesApart else { return false }
            state.fliesApart = true
            return true
        }
        if takesOff { Task { await flyApart() } }
    }

    private func flyApart() async {
        while let submissions = nextFlightApart() {
            let start = ContinuousClock.now
            do {
                try await commitTogether(submissions, lockWait: limits.lockWait)
                noteFlightApart(of: submissions[0].tenant, metLock: .now - start >= limits.soleLockWait)
            } catch  where error.isContention {
                waitOn(submissions, error)
            } catch {
                await land(submissions, error)
            }
        }
    }

    /// A tenant's next submissions; those of tenants that have not met a lock for a while go with everybody's again.
    private func nextFlightApart() -> [Line.Submission]? {
        let (submissions, takeOff) = state.withLock { state in
            var takeOff = TakeOff.none
            while let tenant = state.apart.nextTenant {
                let now = ContinuousClock.now
                guard let end = state.isolated[tenant], now >= end else {
                    return (state.apart.next(upTo: limits.itemsPerFlight, of: tenant), takeOff)
                }
                state.isolated[tenant] = nil
                state.shared.append(contentsOf: state.apart.removeAll(of: tenant))
                guard case .none = takeOff else { continue }
                takeOff = state.takeOff(at: now)
            }
            state.fliesApart = false
            return ([], takeOff)
        }
        begin(takeOff)
        return submissions.isEmpty ? nil : submissions
    }

    private func noteFlightApart(of tenant: Tenant, metLock: Bool) {
        guard metLock else { return }
        state.withLock { $0.isolated[tenant] = .now + limits.isolation }
    }

    /// Lines up again what may wait longer; the others are told.
    private func waitOn(_ submissions: [Line.Submission], _ error: any Error) {
        let now = ContinuousClock.now
        let late = submissions.filter { now - $0.since >= limits.deadline }
        let rest = submissions.filter { now - $0.since < limits.deadline }
        state.withLock { state in
            guard let tenant = submissions.first?.tenant else { return }
            state.isolated[tenant] = now + limits.isolation
            state.apart.putBack(rest)
        }
        for submission in late { submission.continuation.resume(throwing: error) }
    }

    // MARK: Landing

    private func commitTogether(_ submissions: [Line.Submission], lockWait: Duration) async throws {
        let items = submissions.flatMap(\.items)
        let receipts = try await commitInTime(items, lockWait: lockWait)
        await handOver(items, receipts)
        var position = 0
        for submission in submissions {
            let end = position + submission.items.count
            submission.continuation.resume(returning: Array(receipts[position..<end]))
            position = end
        }
    }

    /// Tells of a failure; one poisonous item must not fail its neighbours, so each request is tried by itself.
    private func land(_ submissions: [Line.Submission], _ error: any Error) async {
        if submissions.count == 1 || error.isTransient {
            for submission in submissions { submission.continuation.resume(throwing: error) }
            return
        }
        for submission in submissions {
            do {
                try await commitTogether([submission], lockWait: limits.lockWait)
            } catch {
                submission.continuation.resume(throwing: error)
            }
        }
    }

    private func commitInTime(_ items: [Item], lockWait: Duration) async throws -> [Receipt] {
        try await withDeadline(limits.deadline) { [commit] in try await commit(items, lockWait) }
    }
}

/// How much a ``GroupCommit`` takes on.
struct GroupCommitLimits: Sendable {
    /// How many bytes of items may wait; beyond it callers are turned away.
    var waitingWeight = 64 << 20
    /// How many items one flight takes, unless a single request has more.
    var itemsPerFlight = 500
    /// How many flights may be in the air at once, those apart not counted.
    var flights = 3
    /// With how many items waiting another flight takes off although the last one has just done so.
    var crowd = 100
    /// After which time another flight takes off, however few wait.
    var patience = Duration.milliseconds(20)
    /// With how many items in the air, on the average, tenants let the others go ahead.
    var bulk = 8
    /// After which time a flight is given up, so that callers are not kept waiting by a database that hangs; and how long
    /// a tenant's request waits for rows that somebody else holds.
    var deadline = Duration.seconds(5)
    /// How long a tenant's part of a flight that met a lock waits while the others' parts still have to go.
    var shortLockWait = Duration.milliseconds(10)
    /// So many tenants of a flight are few enough to go again one after the other.
    var fewTenants = 16
    /// How long a flight of a few tenants waits for a lock that may be one tenant's: the others wait with it.
    var sharedLockWait = Duration.milliseconds(25)
    /// How long a flight of a single tenant, or of many, waits for a lock.
    var soleLockWait = Duration.milliseconds(100)
    /// How long a flight apart waits for a lock.
    var lockWait = Duration.milliseconds(300)
    /// How long a tenant flies apart after it has met a lock.
    var isolation = Duration.seconds(10)
}
