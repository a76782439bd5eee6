import Synchronization

/// More waits than can be held: the caller should come back later.
package struct Overloaded: TransientError, CustomStringConvertible {
    package var isTransient: Bool { true }
    package var description: String { "too many events are waiting to be stored" }
}

/// Lets the requests that arrive while a batch is in work share the next one.
///
/// A batch takes whatever waits as soon as the last one is through, so that an idle service works on each request at once and
/// a busy one on hundreds together; see ``BatchPacing`` for when another one begins beside it. Tenants take turns in
/// a batch, and none of them holds more than half of what can wait. Who has nothing in work is served beside the others, in
/// a batch with others like that, while those who have fill batches with what they have lots of.
///
/// A tenant whose rows somebody else holds would let everybody wait who shares its batches. So a batch that meets a lock
/// is tried again tenant by tenant, and who meets it then is isolated: one batch at a time for all such tenants, until for a
/// while no lock was met.
final class Batcher<Tenant: Hashable & Sendable, Item: Sendable, Answer: Sendable>: Sendable {
    /// Does the work of one batch, all or nothing, waiting at most so long for what others have locked; one answer for each
    /// item, in order.
    typealias Work = @Sendable (_ items: [Item], _ lockWait: Duration) async throws -> [Answer]

    private typealias Line = WaitingLine<Tenant, Item, Answer>

    /// For whom a batch is.
    private enum Lane: Equatable {
        /// All who are not isolated, by when the batch began.
        case shared(ContinuousClock.Instant)
        /// Those of them who have nothing in work; one batch at a time.
        case newcomers
        /// One isolated tenant; one batch at a time.
        case isolated
    }

    private enum Step {
        case nothing
        case look(at: ContinuousClock.Instant)
        case run(Lane)
    }

    private struct State {
        let limits: BatchLimits
        var pacing: BatchPacing
        var line = Line()
        /// As how many items counts what each tenant has in work; isolated ones are not among them.
        var working: [Tenant: Int] = [:]
        var itemsWorking = 0
        /// Who is isolated, and until when if no lock is met.
        var isolated: [Tenant: ContinuousClock.Instant] = [:]
        var servesNewcomers = false
        var servesIsolated = false

        init(_ limits: BatchLimits) {
            self.limits = limits
            pacing = BatchPacing(maximum: limits.batches, crowd: limits.crowd, patience: limits.patience)
        }

        /// Lines a request up; `nil` when too much waits.
        mutating func append(_ request: Line.Request) -> Step? {
            let own = line.weight(of: request.tenant)
            guard own + request.weight <= (limits.waitingWeight - (line.weight - own)) / 2 else { return nil }
            line.append(request)
            return begin(for: request.tenant)
        }

        /// Begins a batch if it is time for one; a tenant that has just come may have one with other newcomers.
        mutating func begin(for tenant: Tenant? = nil) -> Step {
            let now = ContinuousClock.now
            for (tenant, end) in isolated where now >= end { isolated[tenant] = nil }
            let waitingApart = isolated.keys.reduce(0) { $0 + line.count(of: $1) }
            if waitingApart > 0, !servesIsolated {
                servesIsolated = true
                return .run(.isolated)
            }
            let waiting = line.count - waitingApart
            if pacing.begin(waiting: waiting, at: now) { return .run(.shared(now)) }
            if let tenant, isNewcomer(tenant), !servesNewcomers, areWorkedOnInBulk {
                servesNewcomers = true
                return .run(.newcomers)
            }
            return pacing.momentToLookAgain(waiting: waiting).map { .look(at: $0) } ?? .nothing
        }

        private func isNewcomer(_ tenant: Tenant) -> Bool { working[tenant] == nil && isolated[tenant] == nil }

        /// Whether tenants in work have so much there that newcomers would wait for long.
        private var areWorkedOnInBulk: Bool { !working.isEmpty && itemsWorking >= limits.bulk * working.count }

        mutating func take(for lane: Lane) -> [Line.Request] {
            let next = lane == .isolated ? line.rotation.first { isolated[$0] != nil } : nil
            let requests = line.next(upTo: limits.itemsPerBatch) { [working, isolated] tenant in
                switch lane {
                case .shared: isolated[tenant] == nil
                case .newcomers: isolated[tenant] == nil && working[tenant] == nil
                case .isolated: tenant == next
                }
            }
            if lane != .isolated { for request in requests { count(request, by: 1) } }
            return requests
        }

        /// Ends a batch, and begins the next.
        mutating func end(_ requests: [Line.Request], of lane: Lane) -> Step {
            if lane != .isolated { for request in requests { count(request, by: -1) } }
            switch lane {
            case .shared(let start): pacing.end(start)
            case .newcomers:
                servesNewcomers = line.rotation.contains(where: isNewcomer)
                if servesNewcomers { return .run(.newcomers) }
            case .isolated: servesIsolated = false
            }
            return begin()
        }

        private mutating func count(_ request: Line.Request, by sign: Int) {
            let rest = working[request.tenant, default: 0] + sign * request.load
            working[request.tenant] = rest > 0 ? rest : nil
            itemsWorking += sign * request.load
        }
    }

    private let state: Mutex<State>
    private let limits: BatchLimits
    private let weight: @Sendable (Item) -> Int
    private let load: @Sendable (Item) -> Int
    private let freeThread: @Sendable () -> (any StoreThread)?
    private let work: Work

    /// - Parameters:
    ///   - limits: How much it takes on.
    ///   - weight: About how many bytes an item takes in memory.
    ///   - load: As how many usual items one counts in a batch, at least one.
    ///   - freeThread: Where a batch runs, if there is one to spare.
    ///   - work: Does the work of one batch.
    init(
        limits: BatchLimits = BatchLimits(),
        weight: @Sendable @escaping (Item) -> Int = { _ in 0 },
        load: @Sendable @escaping (Item) -> Int = { _ in 1 },
        freeThread: @Sendable @escaping () -> (any StoreThread)? = { nil },
        work: @escaping Work
    ) {
        self.limits = limits
        self.weight = weight
        self.load = load
        self.freeThread = freeThread
        self.work = work
        state = Mutex(State(limits))
    }

    var waitingWeight: Int { state.withLock { $0.line.weight } }

    /// Has a tenant's items worked on, all or none; returns when that is done.
    ///
    /// - Throws: ``Overloaded`` at once when too much waits, the work's own error otherwise.
    func submit(_ items: [Item], for tenant: Tenant) async throws -> [Answer] {
        guard !items.isEmpty else { return [] }
        let weight = items.reduce(0) { $0 + self.weight($1) }
        return try await withCheckedThrowingContinuation { continuation in
            let request = Line.Request(
                tenant: tenant,
                items: items,
                weight: weight,
                load: items.reduce(0) { $0 + self.load($1) },
                since: .now,
                continuation: continuation
            )
            let step = state.withLock { $0.append(request) }
            guard let step else { return continuation.resume(throwing: Overloaded()) }
            take(step)
        }
    }

    private func take(_ step: Step) {
        switch step {
        case .nothing: break
        case .run(let lane):
            let thread = freeThread()
            UnitOfWork.beginShared(on: thread?.executor) { await self.run(lane, on: thread) }
        case .look(let moment):
            Task {
                try? await Task.sleep(until: moment)
                let step = state.withLock { state in
                    state.pacing.lookAgain()
                    return state.begin()
                }
                take(step)
            }
        }
    }

    private func run(_ lane: Lane, on thread: (any StoreThread)?) async {
        let (requests, further) = state.withLock { ($0.take(for: lane), $0.begin()) }
        take(further)
        if let thread {
            await thread.serve { await work(on: requests, in: lane) }
        } else {
            await work(on: requests, in: lane)
        }
        take(state.withLock { $0.end(requests, of: lane) })
    }

    private func work(on requests: [Line.Request], in lane: Lane) async {
        guard !requests.isEmpty else { return }
        let tenants = Set(requests.lazy.map(\.tenant)).count
        // Where many would have to be tried again one after the other, waiting costs less.
        let areFew = tenants > 1 && tenants <= limits.fewTenants
        let lockWait = areFew ? limits.sharedLockWait : limits.soleLockWait
        let start = ContinuousClock.now
        do {
            try await UnitOfWork.$isUrgent.withValue(lane == .newcomers) {
                try await complete(requests, lockWait: lane == .isolated ? limits.isolatedLockWait : lockWait)
            }
            if lane == .isolated, .now - start >= limits.soleLockWait { isolate(requests[0].tenant) }
        } catch  where error.isContention {
            if lane == .isolated { putBack(requests, error) } else { await workByTenant(requests) }
        } catch {
            await fail(requests, error)
        }
    }

    /// One tenant's locked row must not hold up the others: who meets one is tried again when all others are through.
    private func workByTenant(_ requests: [Line.Request]) async {
        var shares = Array(Dictionary(grouping: requests, by: \.tenant).values)
        for lockWait in [limits.shortLockWait, limits.soleLockWait] {
            var late: [[Line.Request]] = []
            for share in shares {
                do {
                    try await complete(share, lockWait: lockWait)
                } catch  where error.isContention {
                    late.append(share)
                } catch {
                    await fail(share, error)
                }
            }
            shares = late
        }
        for share in shares { isolate(share[0].tenant, with: share) }
    }

    /// Isolates a tenant, with what just failed before what it has waiting.
    private func isolate(_ tenant: Tenant, with requests: [Line.Request] = []) {
        let step = state.withLock { state in
            state.isolated[tenant] = .now + limits.isolation
            state.line.putBack(requests)
            return state.begin()
        }
        take(step)
    }

    /// Lines up again what may wait longer; the others are told.
    private func putBack(_ requests: [Line.Request], _ error: any Error) {
        let now = ContinuousClock.now
        isolate(requests[0].tenant, with: requests.filter { now - $0.since < limits.longestLockWait })
        for request in requests where now - request.since >= limits.longestLockWait {
            request.continuation.resume(throwing: error)
        }
    }

    private func complete(_ requests: [Line.Request], lockWait: Duration) async throws {
        let answers = try await work(requests.flatMap(\.items), lockWait)
        var position = 0
        for request in requests {
            let end = position + request.items.count
            request.continuation.resume(returning: Array(answers[position..<end]))
            position = end
        }
    }

    /// Tells of a failure; one poisonous item must not fail its neighbours, so each request is tried by itself.
    private func fail(_ requests: [Line.Request], _ error: any Error) async {
        if requests.count == 1 || error.isTransient {
            for request in requests { request.continuation.resume(throwing: error) }
            return
        }
        for request in requests {
            do {
                try await complete([request], lockWait: limits.isolatedLockWait)
            } catch {
                request.continuation.resume(throwing: error)
            }
        }
    }
}

struct BatchLimits: Sendable {
    /// How many bytes of items may wait; beyond it callers are turned away.
    var waitingWeight = 64 << 20
    /// How many items one batch takes, as they count, unless a single request has more.
    var itemsPerBatch = 500
    /// How many batches may be in work at once, those of newcomers and of isolated tenants not counted.
    var batches = 3
    /// With how many items waiting another batch begins although the last one has just done so.
    var crowd = 100
    /// After which time another batch begins, however few wait.
    var patience = Duration.milliseconds(20)
    /// With how many items in work, on the average, tenants keep newcomers waiting, so that these are served beside them.
    var bulk = 8
    /// How long a tenant's part of a batch that met a lock waits while the others' parts still have to be tried.
    var shortLockWait = Duration.milliseconds(10)
    /// So many tenants of a batch are few enough to be tried again one after the other.
    var fewTenants = 16
    /// How long a batch of a few tenants waits for a lock that may be one tenant's: the others wait with it.
    var sharedLockWait = Duration.milliseconds(25)
    /// How long a batch of a single tenant, or of many, waits for a lock.
    var soleLockWait = Duration.milliseconds(100)
    /// How long a batch of an isolated tenant waits for a lock.
    var isolatedLockWait = Duration.milliseconds(300)
    /// How long a tenant's request waits for rows that somebody else holds.
    var longestLockWait = Duration.seconds(5)
    /// How long a tenant is isolated after it has met a lock.
    var isolation = Duration.seconds(10)
}
