package import CarillonCore
import Crypto
package import Metrics
import Synchronization

/// Finds out whose tokens are that are none of Carillon's, and remembers it for as long as the network wishes.
///
/// Requests with the same token share one question. A network has few questions on their way at a time, each address a part
/// of them, and all networks ``allPlaces``: so a server that does not answer holds up nobody else's requests, and tokens that
/// somebody invents nobody's elsewhere. Who finds no place waits in line for a while: those first who were lately found to be
/// users, by their tokens or their addresses. What is remembered is bounded for each network and for all together, and kept by
/// hashes of tokens. Changed settings make other hashes.
package final class UserTokenIntrospector: Sendable {
    /// How many of a network's places questions about tokens from one address have.
    static let placesPerAddress = 24
    /// How many questions all networks have.
    static let allPlaces = 256
    /// How many questions about tokens from one address wait for a place.
    static let lineOfAddress = 64
    /// How many wait of all.
    static let line = 2_048
    /// For how long a question waits.
    static let patience = Duration.seconds(3)
    /// For how long a token is remembered that is nobody's, at most.
    static let nobodyLifetime = Duration.seconds(10)
    /// For how long it is remembered that a token was a user's, or that a user was at an address.
    static let belief = Duration.seconds(3_600)

    /// What is known beforehand of somebody whose token has to be asked about.
    private enum Standing: Hashable {
        /// The token was a user's lately.
        case user
        /// What came last from the address was a user's.
        case neighbour
        case stranger
    }

    /// Those who have a share of a network's places.
    private struct Party: Hashable {
        let standing: Standing
        let address: IPAddress?
    }

    private struct Key: Hashable {
        let network: NetworkID
        let hash: [UInt8]
    }

    private struct Answer {
        let userID: UserID?
        /// Until when nobody is asked again.
        let end: ContinuousClock.Instant
    }

    /// What the server said; `nil` when it was not asked.
    private typealias Question = Task<UserTokenAnswer?, Never>

    private struct State {
        var answers: NetworkMemory<[UInt8], Answer>
        /// Where users were last.
        var addresses: NetworkMemory<IPAddress, Void>
        var questions: [Key: Question] = [:]

        func standing(of key: Key, at address: IPAddress?, _ now: ContinuousClock.Instant) -> Standing {
            if answers.value(key.hash, in: key.network, at: now)?.userID != nil { return .user }
            let isKnown = address.flatMap { addresses.value($0, in: key.network, at: now) } != nil
            return isKnown ? .neighbour : .stranger
        }
    }

    private let asker: any UserTokenAsker
    private let metrics: IntrospectionMetrics
    private let now: @Sendable () -> ContinuousClock.Instant
    private let places: FairPlaces<NetworkID, Party>
    private let state: Mutex<State>

    /// An introspector that has asked nobody yet.
    ///
    /// - Parameters:
    ///   - asker: Asks.
    ///   - metrics: Where questions are counted.
    ///   - ownCapacity: How many tokens are remembered of one network.
    ///   - capacity: How many are remembered of all.
    ///   - patience: For how long a question waits for a place.
    ///   - now: The time by which what is remembered ends.
    package init(
        asker: any UserTokenAsker,
        metrics: any MetricsFactory,
        ownCapacity: Int = 10_000,
        capacity: Int = 50_000,
        patience: Duration = UserTokenIntrospector.patience,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.asker = asker
        self.metrics = IntrospectionMetrics(factory: metrics)
        self.now = now
        places = FairPlaces(
            limits: FairQueueLimits(
                weight: Self.line,
                weightPerLane: Self.lineOfAddress,
                places: Self.allPlaces,
                placesPerLane: Self.placesPerAddress,
                placesPerTenant: UserTokenIntrospection.questionsAtOnce
            ),
            patience: patience
        )
        state = Mutex(
            State(
                answers: NetworkMemory(ownCapacity: ownCapacity, capacity: capacity),
                addresses: NetworkMemory(ownCapacity: ownCapacity, capacity: capacity)
            )
        )
    }

    /// How many tokens are remembered.
    var count: Int { state.withLock(\.answers.count) }
    /// How many questions wait for a place.
    var waiting: Int { places.waiting }

    /// Finds out whose token it is.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - introspection: Whom to ask, and how.
    ///   - network: The network.
    ///   - address: Where it came from.
    ///   - isSuspect: Whether so much of what comes from there proves nothing that nobody is asked about more of it that was not a
    ///     user's lately.
    /// - Returns: The user; `nil` when it is nobody's.
    /// - Throws: 503 when it cannot be found out now, 429 when nobody is to be asked.
    func user(
        of token: String,
        by introspection: UserTokenIntrospection,
        in network: NetworkID,
        from address: IPAddress?,
        isSuspect: Bool
    ) async throws(Problem) -> UserID? {
        enum Step {
            case known(UserID?)
            case wait(Question)
            case refused
        }
        let key = Key(network: network, hash: Self.hash(of: token, introspection))
        let step: Step = state.withLock { state in
            let moment = now()
            if let answer = state.answers.value(key.hash, in: network, at: moment), moment < answer.end {
                return .known(answer.userID)
            }
            if let question = state.questions[key] { return .wait(question) }
            let standing = state.standing(of: key, at: address, moment)
            guard !isSuspect || standing == .user else { return .refused }
            let party = Party(standing: standing, address: address)
            // Unstructured on purpose: it is shared, and must not end with the request that began it.
            let question = Question { await self.ask(about: Secret(token), by: introspection, key, party) }
            state.questions[key] = question
            return .wait(question)
        }
        switch step {
        case .known(let user): return user
        case .refused: throw .tooManyRequests(retryAfter: .seconds(1))
        case .wait(let question):
            let answer = await question.value
            UnitOfWork.current?.restart()
            switch answer {
            case .user(let user): return user
            case .nobody: return nil
            case .failed: throw .serviceUnavailable("it could not be found out whose token it is")
            case nil: throw .serviceUnavailable("too many tokens are being looked into")
            }
        }
    }

    private func ask(
        about token: Secret,
        by introspection: UserTokenIntrospection,
        _ key: Key,
        _ party: Party
    ) async -> UserTokenAnswer? {
        let place = await places.place(of: key.network, in: party, isFirst: party.standing != .stranger)
        guard let place else {
            state.withLock { $0.questions[key] = nil }
            metrics.busy.increment()
            return nil
        }
        defer { place.giveBack() }
        let answer = await asker.ask(introspection, about: token, in: key.network)
        let lifetime = Duration.seconds(introspection.cacheTime)
        state.withLock { state in
            state.questions[key] = nil
            switch answer {
            case .user(let user): remember(user, key, party.address, for: lifetime, &state)
            case .nobody: remember(nil, key, party.address, for: min(lifetime, Self.nobodyLifetime), &state)
            case .failed: break
            }
        }
        metrics.count(answer)
        return answer
    }

    private func remember(
        _ user: UserID?,
        _ key: Key,
        _ address: IPAddress?,
        for lifetime: Duration,
        _ state: inout State
    ) {
        let moment = now()
        let answer = Answer(userID: user, end: moment + lifetime)
        let belief = moment + Self.belief
        let end = user == nil ? answer.end : max(answer.end, belief)
        state.answers.forget(key.hash, in: key.network)
        state.answers.remember(answer, key.hash, in: key.network, until: end, at: moment)
        guard let address else { return }
        if user == nil {
            state.addresses.forget(address, in: key.network)
        } else {
            state.addresses.remember((), address, in: key.network, until: belief, at: moment)
        }
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
