package import CarillonCore
package import Metrics

/// Finds out whose tokens are that are none of Carillon's, and remembers it for as long as the network wishes.
///
/// Requests with the same token share one question. A network has few questions on their way at a time, each address a part
/// of them, and all networks ``allPermits``: so a server that does not answer holds up nobody else's requests, and tokens that
/// somebody invents nobody's elsewhere. Who finds no permit waits in line for a while: those first who were lately found to be
/// users, by their tokens or their addresses. What is remembered is bounded, networks have equal shares of it, and it is kept by
/// hashes of tokens. Changed settings make other hashes.
package final class UserTokenIntrospector: Sendable {
    /// How many of a network's permits questions about tokens from one address have.
    static let permitsPerAddress = 24
    /// How many questions all networks have.
    static let allPermits = 256
    /// How many questions about tokens from one address wait for a permit.
    static let lineOfAddress = 64
    /// How many wait of all.
    static let line = 2_048
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

    /// Those who have a share of a network's permits.
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
        /// Until when it is known what came of the token.
        let beliefEnd: ContinuousClock.Instant
    }

    private struct Origin: Hashable {
        let network: NetworkID
        let address: IPAddress
    }

    private let asker: any UserTokenAsker
    private let endings: Counters<Ending>
    private let now: @Sendable () -> ContinuousClock.Instant
    private let permits: FairSemaphore<NetworkID, Party>
    private let answers: Remembered<Key, Answer>
    /// Where users were last.
    private let origins: Remembered<Origin, Void>

    /// An introspector that has asked nobody yet.
    package init(
        asker: any UserTokenAsker,
        metrics: any MetricsFactory,
        capacity: Int = 50_000,
        patience: Duration = UserTokenIntrospector.patience,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.asker = asker
        endings = Counters("carillon_introspections_total", by: "outcome", factory: metrics)
        self.now = now
        permits = FairSemaphore(
            limits: FairQueueLimits(
                weight: Self.line,
                weightPerLane: Self.lineOfAddress,
                slots: Self.allPermits,
                slotsPerLane: Self.permitsPerAddress,
                slotsPerTenant: UserTokenIntrospection.questionsAtOnce
            ),
            patience: patience
        )
        answers = Remembered(capacity: capacity, now: now, network: \.network) { answer, _ in answer.beliefEnd }
        origins = Remembered(capacity: capacity, now: now, network: \.network) { _, moment in moment + Self.belief }
    }

    var count: Int { answers.count }
    var waiting: Int { permits.waiting }

    /// Finds out whose token it is; `nil` when it is nobody's. Where so much of what comes from an address proves nothing that it `isSuspect`,
    /// nobody is asked about more of it that was not a user's lately.
    /// - Throws: 503 when it cannot be found out now, 429 when nobody is to be asked.
    func user(
        of token: String,
        by introspection: UserTokenIntrospection,
        in network: NetworkID,
        from address: IPAddress?,
        isSuspect: Bool
    ) async throws(Problem) -> UserID? {
        // No token is kept, and what was answered to other settings is not found.
        let key = Key(network: network, hash: [introspection.url, introspection.userIDPointer, token].digest)
        let moment = now()
        let former = answers.remembered(key)
        if let former, moment < former.end { return former.userID }
        let origin = address.map { Origin(network: network, address: $0) }
        let isNeighbour = origin.flatMap(origins.remembered) != nil
        let standing: Standing = former?.userID != nil ? .user : isNeighbour ? .neighbour : .stranger
        guard !isSuspect || standing == .user || answers.isReading(key) else {
            throw .tooManyRequests(retryAfter: .seconds(1))
        }
        defer { UnitOfWork.current?.restart() }
        do {
            let answer = try await answers.value(of: key, while: { moment < $0.end }) {
                let party = Party(standing: standing, address: address)
                return try await self.ask(about: Secret(token), by: introspection, in: network, party)
            }
            return answer.userID
        } catch {
            throw error as? Problem ?? .serviceUnavailable("it could not be found out whose token it is")
        }
    }

    /// - Throws: 503 when there is no permit, or no answer.
    private func ask(
        about token: Secret,
        by introspection: UserTokenIntrospection,
        in network: NetworkID,
        _ party: Party
    ) async throws(Problem) -> Answer {
        let permit = await permits.permit(of: network, in: party, isFirst: party.standing != .stranger)
        guard let permit else {
            endings.count(.busy)
            throw .serviceUnavailable("too many tokens are being looked into")
        }
        defer { permit.giveBack() }
        let answer = await asker.ask(introspection, about: token, in: network)
        let (moment, lifetime) = (now(), Duration.seconds(introspection.cacheTime))
        let origin = party.address.map { Origin(network: network, address: $0) }
        switch answer {
        case .user(let user):
            endings.count(.user)
            if let origin { origins.keep((), as: origin, readAt: moment) }
            return Answer(userID: user, end: moment + lifetime, beliefEnd: moment + max(lifetime, Self.belief))
        case .nobody:
            endings.count(.nobody)
            if let origin { origins.forget(origin) }
            let end = moment + min(lifetime, Self.nobodyLifetime)
            return Answer(userID: nil, end: end, beliefEnd: end)
        case .failed:
            endings.count(.failed)
            throw .serviceUnavailable("it could not be found out whose token it is")
        }
    }
}

/// What came of a question.
private enum Ending: String, CaseIterable {
    case busy
    case user
    case nobody
    case failed
}
