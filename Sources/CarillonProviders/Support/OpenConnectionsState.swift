import DequeModule
import NIOCore

/// Who has a place, who waits for one, and whose turn it is.
///
/// Pure: it says whom to tell, ``OpenConnections`` does it. Nobody waits who could have a free place.
struct OpenConnectionsState {
    typealias Promise = EventLoopPromise<OpenConnections.Turn>

    /// Somebody in line.
    struct Ticket {
        let number: UInt64
        let promise: Promise
    }

    private struct Share {
        /// Places that are taken: by what is open, and by what is being opened.
        var taken = 0
        var line: Deque<Ticket> = []
    }

    private struct Idle {
        let since: UInt64
        let origin: Origin
        let spare: SpareConnection
    }

    private let maximum: Int
    private let maximumPerHost: Int
    /// Places that are taken altogether.
    private(set) var taken = 0
    /// Where the open connections lead.
    var open: [ObjectIdentifier: Origin] = [:]
    /// Of each host that has a place or waits for one.
    private var shares: [Origin: Share] = [:]
    /// The hosts that somebody waits for, in the order in which they have their turns.
    private var turns: Deque<Origin> = []
    private var idle: [ObjectIdentifier: Idle] = [:]
    private var counter: UInt64 = 0

    init(maximum: Int, maximumPerHost: Int) {
        self.maximum = maximum
        self.maximumPerHost = maximumPerHost
    }

    /// How many wait in line.
    var waiting: Int { shares.values.reduce(0) { $0 + $1.line.count } }

    /// Takes a place if there is one.
    mutating func takePlace(for origin: Origin) -> Bool {
        guard taken < maximum, isBelowLimit(origin) else { return false }
        taken += 1
        shares[origin, default: Share()].taken += 1
        return true
    }

    /// Puts somebody in line.
    mutating func queue(for origin: Origin, _ promise: Promise) -> Ticket {
        let ticket = Ticket(number: next(), promise: promise)
        if !isAwaited(origin) { turns.append(origin) }
        shares[origin, default: Share()].line.append(ticket)
        return ticket
    }

    /// Somebody does not wait any longer; `nil` when it has got its turn already.
    mutating func withdraw(_ number: UInt64, for origin: Origin) -> Promise? {
        guard let index = shares[origin]?.line.firstIndex(where: { $0.number == number }) else { return nil }
        let ticket = shares[origin]?.line.remove(at: index)
        if !isAwaited(origin) { turns.removeAll { $0 == origin } }
        forgetIfUnused(origin)
        return ticket?.promise
    }

    /// A connection has ended.
    /// - Returns: Who has a place now.
    mutating func closed(_ id: ObjectIdentifier) -> [Promise] {
        idle[id] = nil
        return open.removeValue(forKey: id).map { vacate($0) } ?? []
    }

    /// A place is free.
    /// - Returns: Who has one now.
    mutating func vacate(_ origin: Origin) -> [Promise] {
        taken -= 1
        shares[origin]?.taken -= 1
        forgetIfUnused(origin)
        var promises: [Promise] = []
        while let next = nextInTurn, takePlace(for: next), let promise = popFirst(of: next) {
            promises.append(promise)
        }
        return promises
    }

    /// Who is to use a connection that carries no request any more.
    mutating func nextToUse(_ id: ObjectIdentifier) -> Promise? {
        guard let origin = open[id], mayKeep(origin) else { return nil }
        idle[id] = nil
        return popFirst(of: origin)
    }

    /// Remembers a connection without a request.
    /// - Returns: The host that needs it or its place.
    mutating func isIdle(_ id: ObjectIdentifier, _ spare: SpareConnection) -> Origin? {
        // It may have closed meanwhile.
        guard let origin = open[id] else { return nil }
        idle[id] = Idle(since: next(), origin: origin, spare: spare)
        if mayKeep(origin) { return origin }
        return nextInTurn
    }

    /// Takes a connection to a host that somebody waits for off the list of those without a request.
    mutating func takeSpare(of origin: Origin) -> SpareConnection? {
        guard mayKeep(origin) else { return nil }
        return idle.first { $0.value.origin == origin }.flatMap { idle.removeValue(forKey: $0.key)?.spare }
    }

    /// Takes the connection that is without a request for longest off the list, if somebody can have its place.
    mutating func takeLongestSpare(for origin: Origin) -> SpareConnection? {
        guard isAwaited(origin), isBelowLimit(origin) else { return nil }
        let longest = idle.min { $0.value.since < $1.value.since }
        return longest.flatMap { idle.removeValue(forKey: $0.key)?.spare }
    }

    /// The host that gets the next place: as long as they are scarce, not one that has its share already.
    private var nextInTurn: Origin? {
        turns.first { isBelowLimit($0) && !isToYield($0, having: taken(by: $0) + 1) }
            ?? turns.first(where: isBelowLimit)
    }

    /// Whether what has become free at a host is for the next one in line there.
    private func mayKeep(_ origin: Origin) -> Bool {
        isAwaited(origin) && !isToYield(origin, having: taken(by: origin))
    }

    private func taken(by origin: Origin) -> Int { shares[origin]?.taken ?? 0 }

    private func isBelowLimit(_ origin: Origin) -> Bool { taken(by: origin) < maximumPerHost }

    private func isAwaited(_ origin: Origin) -> Bool { shares[origin]?.line.isEmpty == false }

    /// Whether so many places are more than if all hosts had as many, and another one waits that has fewer than it may.
    private func isToYield(_ origin: Origin, having places: Int) -> Bool {
        places > maximum / max(1, shares.count) && turns.contains { $0 != origin && isBelowLimit($0) }
    }

    /// The next one in line, behind whom the host's next turn comes after those of all others.
    private mutating func popFirst(of origin: Origin) -> Promise? {
        let ticket = shares[origin]?.line.popFirst()
        turns.removeAll { $0 == origin }
        if isAwaited(origin) { turns.append(origin) }
        return ticket?.promise
    }

    private mutating func forgetIfUnused(_ origin: Origin) {
        if let share = shares[origin], share.taken == 0, share.line.isEmpty { shares[origin] = nil }
    }

    private mutating func next() -> UInt64 {
        counter += 1
        return counter
    }
}
