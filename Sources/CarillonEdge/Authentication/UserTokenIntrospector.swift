package import CarillonCore
import Crypto
package import Metrics
import Synchronization

/// Finds out whose tokens are that are none of Carillon's, and remembers it for as long as the network wishes.
///
/// Requests with the same token share one question. A network has ``places`` questions on their way at a time, and all networks
/// ``allPlaces``: who comes then is told to come back, so that a server that does not answer holds up nobody else's requests and
/// few of ours. What is remembered is bounded for each network and for all together, and kept by hashes of tokens. Changed
/// settings make other hashes.
package final class UserTokenIntrospector: Sendable {
    /// How many questions a network has on their way at a time.
    package static let places = 32
    /// How many questions all networks have.
    package static let allPlaces = 256
    /// For how long a token is remembered that is nobody's, at most.
    static let nobodyLifetime = Duration.seconds(10)

    private struct Key: Hashable {
        let network: NetworkID
        let hash: [UInt8]
    }

    private struct Entry {
        let userID: UserID?
        let end: ContinuousClock.Instant
    }

    private struct State {
        var entries: [NetworkID: [Key: Entry]] = [:]
        var count = 0
        var questions: [Key: Task<UserTokenAnswer, Never>] = [:]
        var onTheirWay: [NetworkID: Int] = [:]
    }

    private let asker: any UserTokenAsker
    private let metrics: IntrospectionMetrics
    private let ownCapacity: Int
    private let capacity: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// An introspector that has asked nobody yet.
    ///
    /// - Parameters:
    ///   - asker: Asks.
    ///   - metrics: Where questions are counted.
    ///   - ownCapacity: How many tokens are remembered of one network.
    ///   - capacity: How many are remembered of all.
    ///   - now: The time by which what is remembered ends.
    package init(
        asker: any UserTokenAsker,
        metrics: any MetricsFactory,
        ownCapacity: Int = 10_000,
        capacity: Int = 50_000,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.asker = asker
        self.metrics = IntrospectionMetrics(factory: metrics)
        self.ownCapacity = ownCapacity
        self.capacity = capacity
        self.now = now
    }

    /// How many tokens are remembered.
    var count: Int { state.withLock(\.count) }

    /// Finds out whose token it is.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - introspection: Whom to ask, and how.
    ///   - network: The network.
    ///   - isSuspect: Whether so much of what comes from the same address proves nothing that nobody is asked about more of it.
    /// - Returns: The user; `nil` when it is nobody's.
    /// - Throws: 503 when it cannot be found out now, 429 when nobody is to be asked.
    func user(
        of token: String,
        by introspection: UserTokenIntrospection,
        in network: NetworkID,
        isSuspect: Bool
    ) async throws(Problem) -> UserID? {
        enum Step {
            case known(UserID?)
            case wait(Task<UserTokenAnswer, Never>)
            case full
        }
        let key = Key(network: network, hash: Self.hash(of: token, introspection))
        let step: Step = state.withLock { state in
            if let entry = state.entries[network]?[key], now() < entry.end { return .known(entry.userID) }
            if let question = state.questions[key] { return .wait(question) }
            guard !isSuspect, state.questions.count < Self.allPlaces,
                state.onTheirWay[network, default: 0] < Self.places
            else { return .full }
            state.onTheirWay[network, default: 0] += 1
            // Unstructured on purpose: it is shared, and must not end with the request that began it.
            let question = Task { await self.ask(about: Secret(token), by: introspection, key) }
            state.questions[key] = question
            return .wait(question)
        }
        switch step {
        case .known(let user): return user
        case .full where isSuspect: throw .tooManyRequests(retryAfter: .seconds(1))
        case .full:
            metrics.busy.increment()
            throw .serviceUnavailable("too many tokens are being looked into")
        case .wait(let question):
            switch await question.value {
            case .user(let user): return user
            case .nobody: return nil
            case .failed: throw .serviceUnavailable("it could not be found out whose token it is")
            }
        }
    }

    private func ask(
        about token: Secret,
        by introspection: UserTokenIntrospection,
        _ key: Key
    ) async -> UserTokenAnswer {
        let answer = await asker.ask(introspection, about: token, in: key.network)
        let lifetime = Duration.seconds(introspection.cacheTime)
        state.withLock { state in
            state.questions[key] = nil
            if let count = state.onTheirWay[key.network] { state.onTheirWay[key.network] = count > 1 ? count - 1 : nil }
            switch answer {
            case .user(let user): remember(user, key, for: lifetime, &state)
            case .nobody: remember(nil, key, for: min(lifetime, Self.nobodyLifetime), &state)
            case .failed: break
            }
        }
        metrics.count(answer)
        return answer
    }

    /// Remembers an answer, in the place of what is over; where that is not enough, in that of all of a network's own, or, where
    /// all networks have too many together, of the one that has most.
    private func remember(_ user: UserID?, _ key: Key, for lifetime: Duration, _ state: inout State) {
        guard lifetime > .zero else { return }
        let moment = now()
        if state.entries[key.network]?.count ?? 0 >= ownCapacity {
            Self.makeRoom(in: key.network, at: moment, ownCapacity, &state)
        }
        if state.count >= capacity, let most = state.entries.max(by: { $0.value.count < $1.value.count })?.key {
            Self.makeRoom(in: most, at: moment, state.entries[most]?.count ?? 0, &state)
        }
        let former = state.entries[key.network, default: [:]].updateValue(
            Entry(userID: user, end: moment + lifetime),
            forKey: key
        )
        if former == nil { state.count += 1 }
    }

    private static func makeRoom(
        in network: NetworkID,
        at moment: ContinuousClock.Instant,
        _ limit: Int,
        _ state: inout State
    ) {
        let before = state.entries[network] ?? [:]
        var left = before.filter { moment < $0.value.end }
        if left.count >= limit { left = [:] }
        state.entries[network] = left.isEmpty ? nil : left
        state.count -= before.count - left.count
    }

    /// No token is kept, and what was answered to other settings is not found.
    private static func hash(of token: String, _ introspection: UserTokenIntrospection) -> [UInt8] {
        var hash = SHA256()
        for part in [introspection.url, introspection.userIDPointer, token] {
            hash.update(data: Array("\(part.utf8.count):\(part)".utf8))
        }
        return Array(hash.finalize())
    }
}

/// What came of questions; all of it is there from the start.
private struct IntrospectionMetrics: Sendable {
    let busy: Counter
    private let user: Counter
    private let nobody: Counter
    private let failed: Counter

    init(factory: any MetricsFactory) {
        func counter(_ outcome: String) -> Counter {
            Counter(
                label: "carillon_introspections_total",
                dimensions: [("outcome", outcome)],
                factory: factory
            )
        }
        (busy, user, nobody, failed) = (counter("busy"), counter("user"), counter("nobody"), counter("failed"))
    }

    func count(_ answer: UserTokenAnswer) {
        switch answer {
        case .user: user.increment()
        case .nobody: nobody.increment()
        case .failed: failed.increment()
        }
    }
}
