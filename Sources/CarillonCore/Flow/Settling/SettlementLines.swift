import DequeModule

/// What waits to be written down: in one line that all networks share, and apart from it what is of networks of which somebody holds
/// rows, so that it keeps nobody else's waiting.
///
/// Such a network is tried by itself, again and again, until all that waits of it is written. How much that is has a bound: nothing more
/// of it is sent or claimed meanwhile.
///
/// A value without a clock: whoever has it says what time it is.
struct SettlementLines: Sendable {
    private struct Held {
        var line = SettlementLine()
        /// When it is tried next.
        var next: ContinuousClock.Instant
        var pause = SettlementLines.shortestPause
    }

    private static let shortestPause = Duration.milliseconds(50)
    /// Longer than a try waits: between two tries rows are free for those who renew leases.
    private static let longestPause = Duration.seconds(1)

    private(set) var shared = SettlementLine()
    private var held: [NetworkID: Held] = [:]
    /// The network that is being tried.
    private var tried: NetworkID?

    /// The networks of which somebody holds rows.
    var heldNetworks: Set<NetworkID> { Set(held.keys) }

    var isTrying: Bool { tried != nil }

    var count: Int { held.values.reduce(shared.count) { $0 + $1.line.count } }

    /// The groups of which something waits or is being written.
    var groups: [DeliveryGroup] { shared.groups + held.values.flatMap(\.line.groups) }

    /// When a network is to be tried next; `nil` while one is, or none has to be.
    var momentOfTry: ContinuousClock.Instant? { isTrying ? nil : held.values.map(\.next).min() }

    /// Lines up a settlement; those of one group stay in their order, also while it is being written for all networks.
    mutating func append(_ settlement: Settlement) {
        let group = settlement.group
        if held[group.lane.networkID] != nil, !shared.isWriting(group.id) {
            held[group.lane.networkID]?.line.append(settlement)
        } else {
            shared.append(settlement)
        }
    }

    /// Takes what is written next for all networks, which is being written until ``end(_:holding:at:)``.
    mutating func next() -> [Settlement] { shared.next() }

    /// These are not being written any more; of `unwritten` somebody holds rows.
    mutating func end(_ batch: [Settlement], holding unwritten: [Settlement], at now: ContinuousClock.Instant) {
        let late = shared.release(batch)
        let networks = Set(unwritten.map(\.group.lane.networkID))
        for network in networks where held[network] == nil { held[network] = Held(next: now + Self.shortestPause) }
        for settlement in unwritten + networks.flatMap({ shared.takeOut($0) }) + late { append(settlement) }
    }

    /// Takes what is tried next, if it is time for that, until ``endTry(_:holding:at:)``.
    mutating func nextTry(at now: ContinuousClock.Instant) -> [Settlement]? {
        guard !isTrying, let network = held.min(by: { $0.value.next < $1.value.next })?.key,
            let moment = held[network]?.next, moment <= now
        else { return nil }
        tried = network
        return held[network]?.line.next()
    }

    /// What was tried is not being written any more; of `unwritten` somebody holds rows still.
    mutating func endTry(_ batch: [Settlement], holding unwritten: [Settlement], at now: ContinuousClock.Instant) {
        guard let network = tried, var one = held[network] else { return }
        tried = nil
        for settlement in unwritten + one.line.release(batch) { one.line.append(settlement) }
        one.next = unwritten.isEmpty ? now : now + one.pause
        one.pause = unwritten.isEmpty ? Self.shortestPause : min(one.pause * 2, Self.longestPause)
        held[network] = one.line.count == 0 ? nil : one
    }

    /// Forgets what waits and fits.
    mutating func removeAll(where isGone: (Settlement) -> Bool) {
        shared.removeAll(where: isGone)
        for network in held.keys { held[network]?.line.removeAll(where: isGone) }
        held = held.filter { $0.key == tried || $0.value.line.count > 0 }
    }
}

/// What waits to be written down, in its order; pages of one group that wait together are one.
///
/// What comes of a group of which something is being written waits apart until that is over: two writes of one group at a time
/// could end the wrong way round.
struct SettlementLine: Sendable {
    private static let batchSize = 256
    /// How many devices are written at a time, so that none waits long for the others.
    private static let batchWeight = 20_000

    private var waiting: Deque<Settlement> = []
    /// The last settlement of each group that waits, by its position in line; the first in line has the position `served`.
    private var positions: [DeliveryGroup.ID: Int] = [:]
    private var served = 0
    private var apart: [DeliveryGroup.ID: [Settlement]] = [:]
    private var written: [DeliveryGroup.ID: DeliveryGroup] = [:]

    /// Since when the oldest outcome that could be written has been known; `nil` where none was sent.
    private(set) var oldest: ContinuousClock.Instant?

    /// How many settlements wait that could be written.
    var ready: Int { waiting.count }

    var count: Int { waiting.count + apart.values.reduce(0) { $0 + $1.count } }

    /// The groups of which something waits or is being written.
    var groups: [DeliveryGroup] {
        Array(written.values) + waiting.map(\.group) + apart.values.joined().map(\.group)
    }

    func isWriting(_ group: DeliveryGroup.ID) -> Bool { written[group] != nil }

    /// Lines up a settlement; those of one group stay in their order.
    mutating func append(_ settlement: Settlement) {
        let id = settlement.group.id
        guard written[id] == nil else {
            if let merged = apart[id]?.last?.joined(with: settlement) {
                apart[id]?.removeLast()
                apart[id]?.append(merged)
            } else {
                apart[id, default: []].append(settlement)
            }
            return
        }
        oldest = [oldest, settlement.since].compactMap(\.self).min()
        if let position = positions[id], let merged = waiting[position - served].joined(with: settlement) {
            waiting[position - served] = merged
        } else {
            positions[id] = served + waiting.count
            waiting.append(settlement)
        }
    }

    /// Takes what is written next, which is being written until ``release(_:)``.
    mutating func next() -> [Settlement] {
        var batch: [Settlement] = []
        var weight = 0
        while batch.count < Self.batchSize, weight < Self.batchWeight, let settlement = waiting.popFirst() {
            let id = settlement.group.id
            if positions[id] == served { positions[id] = nil }
            served += 1
            // Two settlements of one group in one statement would meet each other's row.
            guard written[id] == nil else {
                apart[id, default: []].append(settlement)
                continue
            }
            written[id] = settlement.group
            batch.append(settlement)
            weight += settlement.weight
        }
        oldest = waiting.lazy.compactMap(\.since).min()
        return batch
    }

    /// These are not being written any more; answers what came of their groups meanwhile, to be lined up.
    mutating func release(_ batch: [Settlement]) -> [Settlement] {
        for settlement in batch { written[settlement.group.id] = nil }
        return batch.flatMap { apart.removeValue(forKey: $0.group.id) ?? [] }
    }

    /// Takes out what could be written of a network, in its order.
    mutating func takeOut(_ network: NetworkID) -> [Settlement] {
        let taken = waiting.filter { $0.group.lane.networkID == network && !isWriting($0.group.id) }
        guard !taken.isEmpty else { return [] }
        removeWaiting { [written] in $0.group.lane.networkID == network && written[$0.group.id] == nil }
        return Array(taken)
    }

    /// Forgets what waits and fits.
    mutating func removeAll(where isGone: (Settlement) -> Bool) {
        apart = apart.mapValues { $0.filter { !isGone($0) } }
        removeWaiting(where: isGone)
    }

    private mutating func removeWaiting(where isGone: (Settlement) -> Bool) {
        waiting.removeAll(where: isGone)
        positions = [:]
        for (index, settlement) in waiting.enumerated() { positions[settlement.group.id] = served + index }
        oldest = waiting.lazy.compactMap(\.since).min()
    }
}

extension Settlement {
    /// About how many devices have to be written.
    fileprivate var weight: Int { remainders.reduce(records.count) { $0 + $1.targets.count } }

    /// This page and the next as one; `nil` when the group is over with this one, or the next belongs to another lease.
    ///
    /// What this page left to be sent is what the next one tells of.
    fileprivate func joined(with next: Settlement) -> Settlement? {
        guard group.leaseToken == next.group.leaseToken, let rest = remainders.first, rest.delay == nil else {
            return nil
        }
        var merged = self
        merged.since = [since, next.since].compactMap(\.self).min()
        merged.records += next.records
        merged.troubles.merge(next.troubles) { _, new in new }
        if let answers = next.answers { merged.answers = merged.answers.map { $0.adding(answers) } ?? answers }
        merged.remainders = next.remainders + remainders.dropFirst()
        return merged
    }
}
