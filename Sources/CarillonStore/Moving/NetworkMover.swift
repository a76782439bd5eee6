package import CarillonCore
import Foundation
package import Logging
package import Postgres

/// Moves networks from one placement to another, step by step: each can be done again by whoever goes on.
///
/// At most one placement has the network at any moment: the former one is fenced before there is anything in the new one, and has let go of it
/// before the new one lets anybody in.
package struct NetworkMover: Sendable {
    /// How long what providers have in hand is waited for: as long as a lease, and somewhat longer.
    private static let drainLimit = Duration.seconds(90)
    private static let drainPause = Duration.milliseconds(100)
    /// For how long nothing new has begun before the fence closes.
    private static let settling = Duration.milliseconds(300)
    /// For how long what fails is tried before the network goes on where it was.
    private static let patience = Duration.seconds(30)
    /// For how long what is left somewhere is removed before other moves have their turn.
    private static let removalShare = Duration.seconds(10)

    let catalog: PostgresMoveCatalog
    let pools: [PlacementName: PostgresPool]
    let changed: @Sendable (NetworkID) async -> Void
    private let ended: @Sendable (NetworkMove) -> Void
    let logger: Logger
    let holder = UUID()

    /// A mover between some placements. `changed` is told when a network's state was changed at home: whoever has heard of that does not
    /// work on the network any more. `ended` is told of a network that is where it stays.
    package init(
        catalog: PostgresMoveCatalog,
        pools: [PlacementName: PostgresPool],
        logger: Logger,
        changed: @escaping @Sendable (NetworkID) async -> Void = { _ in },
        ended: @escaping @Sendable (NetworkMove) -> Void = { _ in }
    ) {
        self.catalog = catalog
        self.pools = pools
        self.logger = logger
        self.changed = changed
        self.ended = ended
    }

    /// Does what there is to do and nobody is at, of one network only if that is named; `false` when there is nothing.
    package func work(on network: NetworkID? = nil) async throws -> Bool {
        guard let move = try await catalog.take(holder, of: network, among: Array(pools.keys)) else { return false }
        do {
            if let remains = move.remains {
                try await check(remains)
                try await remove(move, from: remains, within: Self.removalShare)
            } else {
                try await carry(move)
            }
        } catch is MoveLost {
        } catch {
            let error = error
            if !(error is CancellationError) {
                logger.warning("Could not go on with a move", metadata: move.metadata(error))
            }
            // What somebody is at, or a placement that is away, comes later. Also whoever ends leaves it to others.
            let wait = Duration.seconds(move.remains == nil ? 2 : 30)
            await Task {
                try? await catalog.leave(move, for: error is CancellationError ? .zero : wait, by: holder)
            }
            .value
        }
        return true
    }

    private func carry(_ move: NetworkMove) async throws {
        var move = move
        var failingSince: ContinuousClock.Instant?
        var checked: Set<PlacementName> = []
        while move.step.isUnderWay {
            try Task.checkCancellation()
            do {
                if !checked.contains(move.source) { try await check(move.source) }
                checked.insert(move.source)
                if move.isCancelled, move.step != .switching { return try await bringBack(move, because: move.reason) }
                if !checked.contains(move.target) { try await checkTarget(of: move) }
                checked.insert(move.target)
                try await advance(&move)
                failingSince = nil
            } catch is MoveCalledBack {
            } catch let mistake as MistakenPlacement {
                // Whoever has the right URL goes on.
                move.reason = "\(mistake)"
                _ = try await catalog.hold(move, by: holder)
                throw mistake
            } catch let error as MoveRefused where move.step != .switching {
                return try await bringBack(move, because: error.reason)
            } catch  where !(error is MoveLost || error is CancellationError) {
                let since = failingSince ?? .now
                failingSince = since
                // What has no room there finds none while nobody can change anything.
                let isFull = (error as? PostgresError)?.sqlState == .diskFull
                let isOver = .now - since > Self.patience || !error.isTransient || isFull
                // Behind the switch there is but one way, and somebody else may find it.
                if isOver, move.step == .switching { throw error }
                if isOver { return try await bringBack(move, because: "\(error)") }
                move.reason = "\(error)"
                try await Task.sleep(for: .milliseconds(500))
            }
            move = try await catalog.hold(move, by: holder)
        }
    }

    /// Makes sure that a placement is the database and schema that its networks are in.
    ///
    /// - Throws: ``MistakenPlacement``.
    private func check(_ placement: PlacementName) async throws {
        guard let pool = pools[placement] else { return }
        guard try await PostgresPlacementCatalog(pool: catalog.pool).isRight(placement, pool) else {
            throw MistakenPlacement(name: placement)
        }
    }

    /// The same of where a network goes to: as long as it is not there, it goes on where it was.
    private func checkTarget(of move: NetworkMove) async throws {
        do { try await check(move.target) } catch let mistake as MistakenPlacement where move.step != .switching {
            throw MoveRefused(reason: "\(mistake)")
        }
    }

    func advance(_ move: inout NetworkMove) async throws {
        switch move.step {
        case .draining: try await drain(&move)
        case .fenced: try await prepare(&move)
        case .copying: try await copy(&move)
        case .switching: try await switchOver(&move)
        case .purging, .done, .cancelled: break
        }
    }

    func fence(_ network: NetworkID, in placement: PlacementName) throws -> MoveFence {
        guard let pool = pools[placement] else {
            throw PlacementProblem.unavailable(placement, reason: "its URL is not configured here")
        }
        return MoveFence(network: network, pool: pool)
    }

    func enter(_ step: NetworkMove.Step, _ move: inout NetworkMove) async throws {
        guard try await catalog.enter(step, move, by: holder) else { return }
        move.step = step
        move.reason = nil
        logger.info("A network moves", metadata: move.metadata())
    }
}

// MARK: - Steps

extension NetworkMover {
    /// Lets nothing new begin, and waits for what providers have in hand.
    private func drain(_ move: inout NetworkMove) async throws {
        if try await catalog.hasRemains(of: move.network, in: move.target) {
            // What it left there the last time is in the way.
            try await remove(move, from: move.target)
        }
        let (source, target) = (try fence(move.network, in: move.source), try fence(move.network, in: move.target))
        try await checkPlacements(source, target)
        // As long as the network's row says nothing, whoever writes is let through: nobody waits for this.
        for fence in [source, target] { try await fence.raise(holding: holding(move)) }
        move = try await catalog.hold(move, by: holder)
        if move.isCancelled { return }
        try await catalog.freeze(move, by: holder)
        await changed(move.network)
        // What is being accepted ends, here and where it is heard of, before anything is refused by the tables.
        try await Task.sleep(for: Self.settling)
        guard try await source.set(.draining, after: [nil, .out]) else {
            throw MoveRefused(reason: "the network is not in placement \(move.source) any more")
        }
        // Whoever was still removing the fence of a former move has stopped now.
        try await source.raise(holding: holding(move))
        let end = ContinuousClock.now + Self.drainLimit
        while try await !source.isDrained() {
            guard .now < end else { throw MoveRefused(reason: "providers were still at work after \(Self.drainLimit)") }
            try await Task.sleep(for: Self.drainPause)
            move = try await catalog.hold(move, by: holder)
            if move.isCancelled { return }
        }
        move = try await catalog.hold(move, by: holder)
        guard try await source.set(.out, after: [.draining]) else { return }
        try await enter(.fenced, &move)
    }

    /// Makes sure that what is copied is understood where it comes to.
    private func checkPlacements(_ source: MoveFence, _ target: MoveFence) async throws {
        for fence in [source, target] {
            // There a trigger meets tables of other names, and none of the rows that it asks for.
            guard try await CitusSchema.look(fence.pool)?.isDistributed != true else {
                throw MoveRefused(reason: "a placement on Citus moves as a whole, between the servers of Citus")
            }
        }
        guard try await source.migrations() == target.migrations() else {
            throw MoveRefused(reason: "the tables of the two placements are of different releases")
        }
        if let key = try await source.masterKeyName(), let other = try await target.masterKeyName(), key != other {
            throw MoveRefused(reason: "the secrets of the two placements are sealed with different master keys")
        }
        let (clock, other) = (try await DatabaseClock().look(source.pool), try await DatabaseClock().look(target.pool))
        if let excess = other.excess(over: clock) {
            // What waits for a time would come as much too early or late.
            throw MoveRefused(
                reason: "the clock of the placement to go to is \(abs(excess)) ms \(excess > 0 ? "ahead of" : "behind")"
                    + " that of the other: let both follow the same time server"
            )
        }
    }

    /// What says that a move is still held, every so often, and what it waits for.
    func holding(_ move: NetworkMove) -> (MoveObstacle?) async throws -> Void {
        var move = move
        var next = ContinuousClock.now
        return { obstacle in
            if let obstacle { move.reason = "\(obstacle)" }
            guard .now >= next || obstacle != nil else { return }
            next = .now + .seconds(2)
            if try await catalog.hold(move, by: holder).isCancelled, move.step == .draining { throw MoveCalledBack() }
        }
    }

    /// Says that a move is still held while something takes long by itself.
    ///
    /// - Throws: ``MoveLost`` where somebody else has it, ``MoveCalledBack`` where it is wanted back, and what `body` throws.
    func whileHeld<Value: Sendable>(
        _ move: NetworkMove,
        _ body: @Sendable @escaping () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            group.addTask {
                while true {
                    try await Task.sleep(for: catalog.holdTime / 4)
                    if try await catalog.hold(move, by: holder).isCancelled { throw MoveCalledBack() }
                }
            }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    /// Makes the network where it goes to, fenced.
    private func prepare(_ move: inout NetworkMove) async throws {
        let (source, target) = (try fence(move.network, in: move.source), try fence(move.network, in: move.target))
        let (former, new) = (try await source.tables(), try await target.tables())
        guard former == new else { throw MoveRefused(reason: "the tables of the two placements differ") }
        if try await target.isInhabited() {
            throw MoveRefused(reason: "placement \(move.target) has a network of this id, or what is left of one")
        }
        try await enter(.copying, &move)
    }

    private func switchOver(_ move: inout NetworkMove) async throws {
        let (source, target) = (try fence(move.network, in: move.source), try fence(move.network, in: move.target))
        move = try await catalog.hold(move, by: holder)
        guard try await source.set(.gone, after: [.out]) else {
            return try await bringBack(move, because: "somebody has let the network go on in placement \(move.source)")
        }
        guard try await target.admit(after: [.arriving]) else {
            let reason = "somebody has removed the network from placement \(move.target)"
            return try await bringBack(move, because: reason, after: [.draining, .out, .gone])
        }
        move = try await catalog.settle(move, in: .purging, by: holder)
        ended(move)
        logger.notice("A network has moved", metadata: move.metadata())
        await changed(move.network)
        // What is left over is inert, and found by whoever mends.
        try? await target.lower()
        try? await source.emptyQueues()
    }

    /// Has the network go on where it was.
    private func bringBack(
        _ move: NetworkMove,
        because reason: String?,
        after former: [MoveGate] = [.draining, .out]
    ) async throws {
        _ = try await catalog.hold(move, by: holder)
        let source = try fence(move.network, in: move.source)
        _ = try await source.admit(after: former)
        ended(try await catalog.settle(move, in: .cancelled, by: holder, because: reason))
        logger.notice("A network has not moved", metadata: move.metadata(reason: reason))
        await changed(move.network)
        try? await source.lower()
    }

    /// Lets everybody into networks that are fenced and do not move, and removes what arrives where none does: somebody who slept, and did not
    /// know that the move was over, has fenced them, or brought it. Home's list is mended first.
    func mend() async throws {
        for network in try await catalog.mend() { await changed(network) }
        for (placement, pool) in pools {
            // One that is away, or a network that somebody is at, keeps no other from being mended.
            do {
                let networks = try await MoveFence.networks(in: pool).union(MoveFence.arrivals(in: pool))
                guard !networks.isEmpty else { continue }
                try await check(placement)
                for network in networks {
                    do { try await mend(MoveFence(network: network, pool: pool)) } catch { unmended(placement, error) }
                }
            } catch {
                unmended(placement, error)
            }
        }
    }

    private func mend(_ fence: MoveFence) async throws {
        let isArriving = try await fence.gate() == MoveGate.arriving.rawValue
        // A move begins before its fence, and before anything arrives.
        guard try await !catalog.isUnderWay(fence.network) else { return }
        if isArriving, try await fence.expel() {
            try await FormerNetworks(pool: fence.pool, rest: .zero).purge(fence.network, until: .now + .seconds(5))
        }
        let isOpen = try await fence.admit(after: [.draining, .out])
        let isNowhere = try await fence.gate() == nil
        if isOpen || isNowhere { try await fence.lower() }
    }

    private func unmended(_ placement: PlacementName, _ error: any Error) {
        let metadata: Logger.Metadata = ["placement": "\(placement)", "error": "\(error)"]
        logger.debug("Could not look for fences without a move", metadata: metadata)
    }

    /// Removes what there is of a network where it is not; what takes longer than `limit` is gone on with later.
    func remove(_ move: NetworkMove, from placement: PlacementName, within limit: Duration? = nil) async throws {
        let fence = try fence(move.network, in: placement)
        let end = limit.map { ContinuousClock.now + $0 }
        _ = try await catalog.hold(move, by: holder)
        if try await fence.expel() {
            try await fence.lower()
            _ = try await catalog.hold(move, by: holder)
            // Somebody may make a network of this name as soon as its former one is gone.
            while try await fence.gate() == nil, try await fence.isInhabited() {
                if let end, .now > end { return try await catalog.leave(move, for: .seconds(1), by: holder) }
                try await FormerNetworks(pool: fence.pool, rest: .zero).purge(move.network, until: .now + .seconds(5))
                _ = try await catalog.hold(move, by: holder)
                try await Task.sleep(for: Self.drainPause)
            }
        }
        try await catalog.finishRemains(of: move.network, in: placement)
    }
}

/// Somebody wants the network back where it was.
struct MoveCalledBack: Error {}

/// Why a network stays where it is.
struct MoveRefused: Error {
    var reason: String
}

extension NetworkMove {
    /// For a line of the log.
    fileprivate func metadata(_ error: (any Error)? = nil, reason: String? = nil) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "network": "\(network)", "from": "\(source)", "to": "\(target)", "step": "\(step.rawValue)",
            "rows": "\(rows)",
        ]
        if let reason = reason ?? error.map({ "\($0)" }) { metadata["reason"] = "\(reason)" }
        return metadata
    }
}
