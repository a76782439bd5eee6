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
