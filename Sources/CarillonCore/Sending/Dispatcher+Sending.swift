import Logging
import ServiceLifecycle
import Synchronization

/// Handing groups to their providers, and writing down what these report.
extension Dispatcher {
    private static let batchSize = 64
    private static let patience = Duration.milliseconds(200)
    private static let settleMargin = Duration.seconds(10)
    private static let longestBacklog = 2_000

    func sendGroups() async {
        await withDiscardingTaskGroup { group in
            for await _ in wakeups {
                while !Task.isCancelled, let batch = nextBatch() {
                    let ready = await lookAgain(batch)
                    for held in ready { group.addTask { await self.send(held) } }
                    metrics.waiting(groups: lanes.withLock { $0.count })
                    await waitForSettler()
                }
            }
            let left = lanes.withLock { $0.close() }
            await giveBack(left.map(\.group), after: .zero)
        }
    }

    private func nextBatch() -> [HeldGroup]? {
        let batch = lanes.withLock { $0.next(upTo: Self.batchSize, at: .now) }
        return batch.isEmpty ? nil : batch
    }

    /// Keeps what is sent but not written down yet within bounds.
    func waitForSettler() async {
        while settler.backlog > Self.longestBacklog, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Obeys switches flipped and devices unregistered since these groups were expanded.
    private func lookAgain(_ batch: [HeldGroup]) async -> [HeldGroup] {
        let now = ContinuousClock.now
        let safe = batch.filter { held in
            let deadline = providers[held.group.lane.provider]?.deadline ?? .zero
            let isSafe = now - held.leasedAt < leaseDuration - deadline - Self.settleMargin
            if !isSafe { leaveToLease(held) }
            return isSafe
        }
        do {
            return try await withoutWithdrawn(safe)
        } catch {
            // Switches that cannot be seen must not be overridden: the groups wait until the database can be asked.
            logger.debug("Could not look for changes", metadata: ["error": "\(error)"])
            let refused = lanes.withLock { lanes in
                safe.filter { held in
                    lanes.finished(held.group, at: now)
                    return Task.isShuttingDownGracefully || !lanes.add(held)
                }
            }
            await giveBack(refused.map(\.group), after: .zero)
            try? await Task.sleep(for: Self.patience)
            return []
        }
    }

    /// Groups less what the reading of the toggles that they come from did not see, and less those that waited too long.
    private func withoutWithdrawn(_ batch: [HeldGroup]) async throws -> [HeldGroup] {
        guard !batch.isEmpty else { return batch }
        let changes = try await queue.changes(
            since: batch.map { (network: $0.group.lane.networkID, point: $0.readPoint) }
        )
        let now = clock.now()
        let touched = zip(batch.indices, changes).filter { index, changes in
            let group = batch[index].group
            return group.expiresAt <= now || group.targets.contains { changes.touch($0.userID) }
        }.map(\.0)
        guard !touched.isEmpty else { return batch }
        var ready = batch
        for (index, refreshed) in zip(touched, try await queue.refresh(touched.map { batch[$0].group })) {
            ready[index].group = withdraw(refreshed)
            if ready[index].group.targets.isEmpty {
                lanes.withLock { $0.finished(refreshed.group, at: .now) }
            }
        }
        return ready.filter { !$0.group.targets.isEmpty }
    }

    /// Leaves a group to its lease: when that has run out, the row is claimed again.
    private func leaveToLease(_ held: HeldGroup) {
        lanes.withLock { $0.finished(held.group, at: .now) }
        metrics.lostLease()
    }

    /// Has what may not be sent any more written down; answers what may.
    func withdraw(_ refreshed: RefreshedGroup) -> DeliveryGroup {
        let (group, records) = lastLook.look(at: refreshed)
        guard !records.isEmpty || group.targets.isEmpty else { return group }
        let rest = Remainder(targets: group.targets, attempt: group.attempt, delay: nil)
        let remainders = group.targets.isEmpty ? [] : [rest]
        settler.submit(Settlement(group: refreshed.group, records: records, remainders: remainders))
        return group
    }

    private func send(_ held: HeldGroup) async {
        let group = held.group
        let ledger = SendLedger(group)
        ledgers.withLock { $0[group.id] = ledger }
        if let provider = providers[group.lane.provider] {
            await provider.send(group) { target, outcome in ledger.report(target, outcome) }
        } else {
            let reason = "no credential for \(group.lane.provider.rawValue)"
            for target in group.targets { ledger.report(target, .deferLane(after: .seconds(30), reason: reason)) }
        }
        _ = ledgers.withLock { $0.removeValue(forKey: group.id) }
        await settle(ledger, isOver: true)
        settler.forget(group)
        let wantsMore = lanes.withLock { lanes in
            lanes.finished(group, at: .now)
            return lanes.wantsMore(of: group.lane)
        }
        wake.yield()
        if wantsMore { claim.yield() }
    }

    /// Turns what a provider has reported into a settlement, and pauses the lane when nothing in it can succeed.
    func settle(_ ledger: SendLedger, isOver: Bool) async {
        let paused = ledger.inTurn { settlePage(of: ledger, isOver: isOver) }
        await giveBack(paused.groups, after: paused.pause, laneReason: paused.reason)
    }

    /// What waited in a lane that had to be paused.
    private struct PausedGroups {
        var groups: [DeliveryGroup] = []
        var pause = Duration.zero
        var reason: String?
    }

    /// Settles what was reported since the last page.
    private func settlePage(of ledger: SendLedger, isOver: Bool) -> PausedGroups {
        let page = ledger.takePage()
        // What was reported before is settled already, and the row may be somebody else's by now.
        guard !page.outcomes.isEmpty || (isOver && !page.unreported.isEmpty) else { return PausedGroups() }
        let lane = ledger.group.lane
        let wallTime = clock.now()
        let verdict = brakes.withLock { brakes in
            // Asked within the lock: a change is noted before the brake begins anew.
            let isLate = credentialChanges.withLock { $0.hasChanged(lane, since: ledger.begin) }
            let reported = isLate ? page.outcomes.map { ($0.target, $0.outcome.ofFormerCredential) } : page.outcomes
            return brakes.hold(reported, of: lane, at: .now, wallTime: wallTime)
        }
        tell(verdict, of: lane)
        var (settlement, news) = policy.settle(
            ledger.group,
            outcomes: verdict.outcomes,
            held: verdict.held,
            unreported: page.unreported,
            isOver: isOver,
            now: wallTime,
            random: { .random(in: -1...1) }
        )
        var paused = PausedGroups()
        switch news {
        case .none:
            break
        case .works:
            lanes.withLock { $0.succeeded(ledger.group) }
        case .pause(let after, let reason):
            paused = open(lane, retryAfter: after, reason: reason)
            for index in settlement.remainders.indices where settlement.remainders[index].delay == .zero {
                settlement.remainders[index].delay = paused.pause
                settlement.remainders[index].laneReason = reason
            }
        }
        settler.submit(settlement)
        return paused
    }

    private func tell(_ verdict: UnregistrationBrakes.Verdict, of lane: Lane) {
        if let held = verdict.held { metrics.heldUnregistrations(held.targets.count, provider: lane.provider) }
        switch verdict.turn {
        case .on(let reason, let span):
            let since = clock.now() - span
            lateBrakes.withLock { $0.note(lane, since: since, at: .now) }
            logger.notice(
                "Reports of devices as gone are not believed for now",
                metadata: ["lane": "\(lane)", "reason": "\(reason)"]
            )
        case .off:
            lateBrakes.withLock { $0.forget([lane]) }
            tellOff([lane])
        case nil:
            break
        }
    }

    /// Opens a lane's circuit; answers what waited in the lane.
    private func open(_ lane: Lane, retryAfter: Duration?, reason: String) -> PausedGroups {
        let now = ContinuousClock.now
        let wallTime = clock.now()
        let (wasPaused, paused) = lanes.withLock { lanes in
            let wasPaused = lanes.pause(of: lane, at: now) != nil
            let groups = lanes.open(lane, at: now, wallTime: wallTime, retryAfter: retryAfter, reason: reason)
            let pause = lanes.pause(of: lane, at: now) ?? .zero
            return (wasPaused, PausedGroups(groups: groups.map(\.group), pause: pause, reason: reason))
        }
        if !wasPaused { logger.notice("A lane is paused", metadata: ["lane": "\(lane)", "reason": "\(reason)"]) }
        return paused
    }

    func giveBack(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String? = nil) async {
        guard !groups.isEmpty else { return }
        do {
            try await queue.release(groups, after: delay, laneReason: laneReason)
        } catch {
            logger.debug("Deliveries stay leased until their leases run out", metadata: ["error": "\(error)"])
        }
    }
}
