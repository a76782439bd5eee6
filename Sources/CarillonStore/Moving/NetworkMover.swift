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
    /// For how long what fails is tried before the network goes on where it was.
    private static let patience = Duration.seconds(30)

    let catalog: PostgresMoveCatalog
    let pools: [PlacementName: PostgresPool]
    /// Told when a network's state was changed at home.
    let changed: @Sendable (NetworkID) async -> Void
    private let ended: @Sendable (NetworkMove) -> Void
    let logger: Logger
    let holder = UUID()

    /// A mover between some placements.
    ///
    /// - Parameters:
    ///   - catalog: The moves, at home.
    ///   - pools: The placements.
    ///   - logger: Told of each step.
    ///   - changed: Told when a network's state was changed at home; whoever has heard of that does not work on the network any more.
    ///   - ended: Told of a network that is where it stays.
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
        guard let work = try await catalog.take(holder, of: network) else { return false }
        do {
            if let remains = work.remains {
                try await remove(work.move, from: remains)
            } else {
                try await move(work.move)
            }
        } catch is MoveLost {
        } catch {
            logger.warning("Could not go on with a move", metadata: work.move.metadata(error))
            // What somebody is at, or a placement that is away, comes later.
            try? await catalog.leave(work, for: .seconds(work.remains == nil ? 2 : 30))
        }
        return true
    }

    private func move(_ move: NetworkMove) async throws {
        var move = move
        var failingSince: ContinuousClock.Instant?
        while move.step.isUnderWay {
            try Task.checkCancellation()
            do {
                if move.isCancelled, move.step != .switching { return try await bringBack(move, because: move.reason) }
                try await advance(&move)
                failingSince = nil
            } catch let error as MoveRefused where move.step != .switching {
                return try await bringBack(move, because: error.reason)
            } catch  where !(error is MoveLost || error is CancellationError) {
                // Behind the switch there is but one way.
                let since = failingSince ?? .now
                failingSince = since
                if move.step != .switching, .now - since > Self.patience || !error.isTransient {
                    return try await bringBack(move, because: "\(error)")
                }
                move.reason = "\(error)"
                try await Task.sleep(for: .milliseconds(500))
            }
            move = try await catalog.hold(move, by: holder)
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
        if try await catalog.hasten(move.network, in: move.target) {
            // What it left there the last time is in the way.
            try await remove(move, from: move.target)
        }
        let source = try fence(move.network, in: move.source)
        for placement in [move.source, move.target] {
            // There a trigger meets tables of other names, and none of the rows that it asks for.
            guard try await CitusSchema.look(fence(move.network, in: placement).pool)?.isDistributed != true else {
                throw MoveRefused(reason: "placement \(placement) is on Citus, between whose servers all of it moves")
            }
        }
        try await catalog.freeze(move)
        await changed(move.network)
        try await source.raise()
        guard try await source.set(.draining, after: [nil, .out]) else {
            throw MoveRefused(reason: "the network is not in placement \(move.source) any more")
        }
        let end = ContinuousClock.now + Self.drainLimit
        while try await !source.isDrained() {
            guard .now < end else { throw MoveRefused(reason: "providers were still at work after \(Self.drainLimit)") }
            try await Task.sleep(for: Self.drainPause)
            move = try await catalog.hold(move, by: holder)
            if move.isCancelled { return }
        }
        guard try await source.set(.out, after: [.draining]) else { return }
        try await enter(.fenced, &move)
    }

    /// Makes the network where it goes to, fenced.
    private func prepare(_ move: inout NetworkMove) async throws {
        let (source, target) = (try fence(move.network, in: move.source), try fence(move.network, in: move.target))
        let (former, new) = (try await source.tables(), try await target.tables())
        guard former == new else { throw MoveRefused(reason: "the tables of the two placements differ") }
        if try await target.isInhabited() {
            throw MoveRefused(reason: "placement \(move.target) has a network of this id, or what is left of one")
        }
        try await target.raise()
        try await enter(.copying, &move)
    }

    private func switchOver(_ move: inout NetworkMove) async throws {
        let (source, target) = (try fence(move.network, in: move.source), try fence(move.network, in: move.target))
        _ = try await source.set(.gone, after: [.out])
        try await target.admit(after: [.arriving])
        move = try await catalog.settle(move, in: .purging)
        ended(move)
        logger.notice("A network has moved", metadata: move.metadata())
        await changed(move.network)
        // What is left over is inert, and found by whoever removes the rest.
        try? await target.lower()
        try? await source.emptyQueues()
    }

    /// Has the network go on where it was.
    private func bringBack(_ move: NetworkMove, because reason: String?) async throws {
        let source = try fence(move.network, in: move.source)
        try await source.admit(after: [.draining, .out])
        ended(try await catalog.settle(move, in: .cancelled, because: reason))
        logger.notice("A network has not moved", metadata: move.metadata(reason: reason))
        await changed(move.network)
        try? await source.lower()
    }

    /// Lets everybody into networks that are fenced and do not move: somebody who slept, and did not know that the move was over, has fenced them.
    func mend() async throws {
        for pool in pools.values {
            let fenced = try await MoveFence.networks(in: pool)
            // A move begins before its fence.
            guard !fenced.isEmpty else { continue }
            let busy = try await catalog.networksAtHand()
            for network in fenced where !busy.contains(network) {
                let fence = MoveFence(network: network, pool: pool)
                try await fence.admit(after: [.draining, .out])
                try await fence.lower()
            }
        }
    }

    /// Removes what there is of a network where it is not.
    private func remove(_ move: NetworkMove, from placement: PlacementName) async throws {
        let fence = try fence(move.network, in: placement)
        if try await fence.expel() {
            try await fence.lower()
            let former = FormerNetworks(pool: fence.pool, rest: .zero)
            while try await fence.isInhabited() {
                try await former.purge(move.network, until: .now + .seconds(5))
                _ = try await catalog.hold(move, by: holder)
                try await Task.sleep(for: Self.drainPause)
            }
        }
        try await catalog.finishRemains(of: move.network, in: placement)
    }
}

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
