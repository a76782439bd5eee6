package import CarillonCore
import Synchronization

/// Counts what callers do against rates (API section 2): one bucket for each user, app key and network, and for each address
/// whose credentials prove nothing.
///
/// The buckets are this process's own, so that each replica allows as much. Their number is bounded: when there are too
/// many, the fullest are forgotten, whose owners have asked for least.
package final class RequestRates: Sendable {
    package enum Owner: Hashable, Sendable {
        case user(NetworkID, UserID)
        /// A key of role `device`.
        case key(NetworkID, String)
        /// A network, for the events that it posts.
        case events(NetworkID)
        /// Where requests come from that are refused with 401.
        case address(IPAddress)
        /// Somebody without credentials who asks something of a face.
        case caller(FaceName, String, IPAddress)
        /// What is asked of a face, whoever asks.
        case named(FaceName, String, NetworkID, String)
    }

    /// A rate of something that a face counts.
    package struct Rate: Sendable {
        package var name: String
        /// How many there are in the long run.
        package var perSecond: Int
        /// How many may come at once after a silence.
        package var burst: Int

        package init(_ name: String, perSecond: Int, burst: Int) {
            self.name = name
            self.perSecond = perSecond
            self.burst = burst
        }
    }

    /// What something counts, and against what.
    package struct Claim: Sendable {
        let owner: Owner
        package let count: Int
        let rate: Int
        /// What may come at once; `nil` for ten seconds' worth.
        let burst: Int?

        package init(_ count: Int = 1, of owner: Owner, rate: Int, burst: Int? = nil) {
            (self.owner, self.count, self.rate, self.burst) = (owner, count, rate, burst)
        }

        /// What somebody asks of a face, by where they are.
        package init(_ count: Int = 1, of rate: Rate, at face: FaceName, from address: IPAddress) {
            let owner = Owner.caller(face, rate.name, address.subscriber)
            self.init(count, of: owner, rate: rate.perSecond, burst: rate.burst)
        }

        /// What is asked of a face about something of a network's, by its name.
        package init(
            _ count: Int = 1,
            of rate: Rate,
            at face: FaceName,
            about name: String,
            in network: NetworkID
        ) {
            let owner = Owner.named(face, rate.name, network, name)
            self.init(count, of: owner, rate: rate.perSecond, burst: rate.burst)
        }
    }

    /// How often a second an address may be refused with 401, before it is told to wait. There may be many people behind
    /// one, and what proves something is not counted.
    static let unauthorizedPerSecond = 50

    private let capacity: Int
    private let start: ContinuousClock.Instant
    private let now: @Sendable () -> ContinuousClock.Instant
    private let buckets = Mutex<[Owner: TokenBucket]>([:])

    package init(
        capacity: Int = 100_000,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.capacity = max(1, capacity)
        self.now = now
        start = now()
    }

    var count: Int { buckets.withLock { $0.count } }

    /// Counts something that has a rate, and perhaps another size of what may come at once than ten seconds' worth.
    ///
    /// - Throws: 429 when it is too much.
    package func take(_ count: Int = 1, from owner: Owner, rate: Int, burst: Int? = nil) throws(Problem) {
        try take(each: [Claim(count, of: owner, rate: rate, burst: burst)])
    }

    /// Counts these one after the other.
    ///
    /// - Throws: 429 for the first that is too much.
    package func take(each claims: [Claim]) throws(Problem) {
        for claim in claims {
            if let wait = wait(taking: claim) { throw .tooManyRequests(retryAfter: wait) }
        }
    }

    /// Counts something that has a rate; after how long it would be counted, when it is too much.
    private func wait(taking claim: Claim) -> Duration? {
        let now = elapsed
        return buckets.withLock { buckets in
            if buckets[claim.owner] == nil, buckets.count >= capacity {
                Self.forget(&buckets, downTo: capacity * 3 / 4, at: now)
            }
            return buckets[claim.owner, default: TokenBucket(at: now)]
                .take(claim.count, rate: claim.rate, burst: claim.burst, at: now)
        }
    }

    /// Counts all of these; `false`, and none is counted, where any is too much.
    package func take(all claims: [Claim]) -> Bool {
        for (position, claim) in claims.enumerated() {
            guard wait(taking: claim) != nil else { continue }
            giveBack(all: claims[..<position])
            return false
        }
        return true
    }

    /// Gives back what was counted, and is once more when it is tried again.
    package func giveBack(all claims: some Sequence<Claim>) {
        let now = elapsed
        buckets.withLock { buckets in
            for claim in claims { buckets[claim.owner]?.giveBack(claim.count, rate: claim.rate, at: now) }
        }
    }

    /// Counts events of a network that has a rate for them.
    ///
    /// - Throws: 429 when they are too many.
    package func take(events count: Int, of network: Network) throws(Problem) {
        guard let rate = network.limits.eventsPerSecond else { return }
        try take(count, from: .events(network.id), rate: rate)
    }

    /// Counts what somebody asks of a face, by where they are.
    ///
    /// - Throws: 429 when it is too much.
    package func take(_ count: Int = 1, of rate: Rate, at face: FaceName, from address: IPAddress) throws(Problem) {
        try take(each: [Claim(count, of: rate, at: face, from: address)])
    }

    /// Gives one back that was counted before it was known whose it is.
    package func giveBack(_ rate: Rate, at face: FaceName, from address: IPAddress) {
        giveBack(all: [Claim(of: rate, at: face, from: address)])
    }

    /// Gives events back that were counted, and are once more when they are tried again.
    package func giveBack(events count: Int, of network: Network) {
        guard let rate = network.limits.eventsPerSecond else { return }
        giveBack(all: [Claim(count, of: .events(network.id), rate: rate)])
    }

    /// Counts what is asked of a face about something of a network's, by its name.
    ///
    /// - Throws: 429 when it is too much.
    package func take(
        _ count: Int = 1,
        of rate: Rate,
        at face: FaceName,
        about name: String,
        in network: NetworkID
    ) throws(Problem) {
        try take(each: [Claim(count, of: rate, at: face, about: name, in: network)])
    }

    /// After how long an owner's bucket will have something again; `nil` when it has.
    func wait(of owner: Owner, rate: Int) -> Duration? {
        let now = elapsed
        return buckets.withLock { $0[owner]?.wait(rate: rate, at: now) }
    }

    private var elapsed: Duration { now() - start }

    /// Forgets all that are full, which is no loss, and as many of the others as it takes, the fullest first. Compares them by
    /// hundredths, as everybody waits while they are looked through.
    private static func forget(_ buckets: inout [Owner: TokenBucket], downTo count: Int, at now: Duration) {
        let level = { (bucket: TokenBucket) in Int(max(0, min(1, bucket.fullness(at: now))) * 100) }
        var sizes = [Int](repeating: 0, count: 101)
        for bucket in buckets.values { sizes[level(bucket)] += 1 }
        var (lowest, left) = (100, buckets.count - sizes[100])
        while left > count {
            lowest -= 1
            left -= sizes[lowest]
        }
        // Of those at the lowest level that is forgotten, some may stay.
        var staying = lowest == 100 ? 0 : count - left
        buckets = buckets.filter { _, bucket in
            let level = level(bucket)
            guard level == lowest, staying > 0 else { return level < lowest }
            staying -= 1
            return true
        }
    }
}

extension RequestRates: EventRates {
    package func wait(of network: Network) -> Duration? {
        network.limits.eventsPerSecond.flatMap { wait(of: .events(network.id), rate: $0) }
    }

    package func wait(counting events: Int, of network: Network) -> Duration? {
        network.limits.eventsPerSecond.flatMap { wait(taking: Claim(events, of: .events(network.id), rate: $0)) }
    }
}
