import Logging
import Synchronization

extension LaneHealth {
    /// Reads the store, of a network or all of it; what is not written yet stays as it is.
    package func learn(of network: NetworkID? = nil) async {
        do {
            try await adopting(where: { network == nil || $0.networkID == network }) {
                try await store.laneConditions(of: network)
            }
            queue.poll()
        } catch {
            logger.debug("Could not read what is wrong with lanes", metadata: ["error": "\(error)"])
        }
    }

    /// Something was written about a network's lanes, or about any: it is read anew.
    func hear(of network: NetworkID?) {
        state.withLock { state in
            if let network { state.stale?.insert(network) } else { state.stale = nil }
        }
        wake.yield()
    }

    func learnStale() async {
        let stale = state.withLock { state in
            defer { state.stale = [] }
            return state.stale
        }
        guard let stale else { return await learn() }
        for network in stale { await learn(of: network) }
    }

    /// Writes what has happened to lanes, and gives back what waited in them, also what somebody else is about to.
    func write() async {
        let writing = state.withLock { state in
            guard state.changes.count > 0 || !state.drained.isEmpty else { return state.writing }
            state.writing = UnitOfWork.beginShared { [former = state.writing] in
                await former?.value
                await self.writeAll()
            }
            return state.writing
        }
        await writing?.value
    }

    private func writeAll() async {
        var (count, drained) = state.withLock { state in
            defer { state.drained = [:] }
            return (state.changes.count, state.drained)
        }
        do {
            while count > 0 {
                let batch = state.withLock { $0.changes.next(min(count, Self.batchSize)) }
                try await write(batch)
                count -= batch.count
            }
        } catch {
            logger.debug("Could not write what is wrong with lanes", metadata: ["error": "\(error)"])
            unwritten.call()
        }
        for (why, groups) in drained { await queue.giveBack(groups, after: why.pause, laneReason: why.reason) }
    }

    /// Writes the first changes together or, where the store refuses that, one by one; what it refuses by itself is known to this
    /// replica alone.
    private func write(_ first: [ChangedLane]) async throws {
        do {
            _ = try await store.apply(first)
        } catch  where first.count > 1 && !error.isTransient {
            for change in first { try await write([change]) }
            return
        } catch  where !error.isTransient {
            let lanes = first.map { "\($0.lane)" }.joined(separator: " ")
            let metadata: Logger.Metadata = ["lane": "\(lanes)", "error": "\(error)"]
            logger.error("What is wrong with a lane cannot be written", metadata: metadata)
        }
        state.withLock { $0.changes.wrote(first: first.count) }
        for network in Set(first.map(\.lane.networkID)) { announcements.announce(.lanes, in: network) }
        await release(first.filter(\.change.isOpening).map(\.lane))
    }

    /// Writes what could not be written before; whether anything is left.
    func writeAgain() async -> Bool {
        await write()
        return state.withLock { $0.changes.count > 0 }
    }

    /// Reads the store, and makes of what was read ours what has not changed meanwhile.
    func adopting(
        where isMeant: (Lane) -> Bool,
        _ read: () async throws -> LaneConditions
    ) async throws {
        _ = try await adopting {
            let conditions = try await read()
            let known = state.withLock { $0.conditions.keys.filter(isMeant) }
            let lanes = Set(known).union(conditions.lanes.keys.filter(isMeant))
            return (answer: (), conditions: conditions, lanes: lanes)
        }
    }

    func adopting<Answer>(
        _ read: () async throws -> (answer: Answer, conditions: LaneConditions, lanes: Set<Lane>)?
    ) async throws -> Answer? {
        let mark = state.withLock { $0.changes.beginReading() }
        do {
            guard let (answer, conditions, lanes) = try await read() else {
                state.withLock { _ = $0.changes.endReading(mark) }
                return nil
            }
            adopt(conditions, of: lanes, since: mark)
            return answer
        } catch {
            state.withLock { _ = $0.changes.endReading(mark) }
            throw error
        }
    }

    /// Makes what was read of these lanes ours; those of which nothing was read are well.
    private func adopt(_ conditions: LaneConditions, of lanes: Set<Lane>, since mark: Int) {
        let hasNews = state.withLock { state in
            let (read, overtaken) = state.changes.endReading(mark, of: lanes)
            for lane in overtaken { state.stale?.insert(lane.networkID) }
            var before: [Lane: LaneCondition] = [:]
            var after: [Lane: LaneCondition] = [:]
            for lane in read {
                before[lane] = state.conditions[lane]
                after[lane] = conditions.lanes[lane]
                state.conditions[lane] = conditions.lanes[lane]
            }
            for (lane, former) in before where former.pause != nil && after[lane]?.pause == nil { queue.resume(lane) }
            let paused = after.filter { $1.pause != nil && before[$0]?.pause != $1.pause }
            for (lane, condition) in paused {
                // One that is over already, as after a start, is tried with one group, too.
                let remaining = condition.remainingPause(at: conditions.moment) ?? .zero
                drain(lane, for: remaining, reason: condition.pause?.reason ?? "", &state)
            }
            return !paused.isEmpty || !overtaken.isEmpty
        }
        callToUndo(conditions.lanes.values)
        if hasNews { wake.yield() }
    }
}
