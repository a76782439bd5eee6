package import Logging
import ServiceLifecycle

/// Knows which placement a network is in, for those who ask with every request.
///
/// What is known is used however old it is: a network's own row says when it is there no more. A network that nobody has heard of is
/// looked for at home, many with one reading and at most twenty readings a second, and counts as home's when it is not found there:
/// home answers that there is none.
package final class PlacementDirectory: Service {
    /// For how long a network stays unknown that was not found.
    private static let timeToLive = Duration.seconds(2)
    private static let capacity = 10_000
    /// How far apart readings for unknown networks begin.
    private static let interval = Duration.milliseconds(50)
    private static let pollInterval = Duration.seconds(1)
    /// How often the list is read while changes of it are heard of and nothing moves.
    private static let rest = Duration.seconds(5)
    /// How long whoever asks for an unknown network waits for home.
    private static let readingLimit = Duration.seconds(2)
    /// What fails sooner may be tried again by each who asks.
    private static let shortFailure = Duration.milliseconds(500)

    /// What came of looking for a network.
    package enum Lookup: String, Sendable, CaseIterable {
        /// It was on the list.
        case known
        /// Home had it.
        case found
        /// Home had not.
        case absent
        /// Home did not answer.
        case failed
    }

    private let list: WatchedList<PlacementList>
    private let readings: PacedReading<Void, Void>
    private let count: @Sendable (Lookup) -> Void
    private let absent: Remembered<NetworkID, Void>
    /// Why home could not be asked, where it took long to find that out.
    private let failures: Remembered<PlacementName, String>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// A directory of what `catalog` keeps.
    ///
    /// - Parameters:
    ///   - catalog: Home's list.
    ///   - initial: What was known when the service ran last, for as long as home cannot be asked.
    ///   - announcements: Between this replica and the others.
    ///   - logger: Where it is reported that the list cannot be read.
    ///   - now: The time.
    ///   - count: Told what comes of each look-up.
    ///   - noteList: Told what was read, when it is another list than before, and which that was.
    package init(
        catalog: some PlacementCatalog,
        initial: PlacementList? = nil,
        announcements: Announcements = Announcements(),
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        count: @escaping @Sendable (Lookup) -> Void = { _ in },
        noteList: @escaping @Sendable (_ list: PlacementList, _ former: PlacementList?) -> Void = { _, _ in }
    ) {
        self.now = now
        self.count = count
        absent = Remembered(capacity: Self.capacity, now: now) { _, readAt in readAt + Self.timeToLive }
        let failures = Remembered<PlacementName, String>(capacity: 1, now: now) { _, failedAt in
            failedAt + Self.timeToLive
        }
        self.failures = failures
        let list = WatchedList<PlacementList>(
            .placements,
            lifetime: Self.interval,
            pollInterval: Self.pollInterval,
            rest: Self.rest,
            mayRest: \.moving.isEmpty,
            readingLimit: Self.readingLimit,
            initial: initial,
            announcements: announcements,
            logger: logger,
            now: now,
            read: { last in
                // What the file says may be of another database.
                let list = try await catalog.list(unless: last == initial ? nil : last?.version)
                failures.forget(.home)
                if let list, list != last { noteList(list, last) }
                return list
            }
        )
        self.list = list
        readings = PacedReading(every: Self.interval) {
            let startedAt = now()
            do { try await list.reread() } catch {
                let failedAt = now()
                if failedAt - startedAt >= Self.shortFailure { failures.keep("\(error)", as: .home, readAt: failedAt) }
                throw error
            }
        }
    }

    /// Reads from time to time, and when told to, until graceful shutdown.
    package func run() async throws { try await list.run() }

    /// Whether the list was read once, now or when the service ran last.
    package var isKnown: Bool { list.lastKnown != nil }

    /// The placement that a network is in; ``PlacementName/home`` for one that is nowhere.
    ///
    /// - Throws: ``PlacementProblem/unavailable(_:reason:)`` when only home could tell and does not answer;
    ///   ``PlacementProblem/moving`` for whoever is about to change something of a network that moves.
    package func placement(of network: NetworkID, for access: PlacementAccess = .reading) async throws -> PlacementName
    {
        let (placement, lookup) = try await look(for: network)
        count(lookup)
        if access == .writing, isMoving(network) { throw PlacementProblem.moving }
        return placement
    }

    /// Whether a network was on its way elsewhere when that was last looked for.
    package func isMoving(_ network: NetworkID) -> Bool { list.lastKnown?.moving.contains(network) ?? false }

    /// Reads the list anew, with others who want that, for a network that was not where it was said to be.
    ///
    /// - Throws: ``PlacementProblem/unavailable(_:reason:)`` when home does not answer.
    package func isElsewhere(_ network: NetworkID, than placement: PlacementName) async throws -> Bool {
        if lastKnown(network) == placement { try await read() }
        return lastKnown(network) != placement
    }

    /// Reads the list anew, for as long as whoever asks may wait. Where home has just not answered, nobody waits for it once more.
    private func read() async throws {
        do {
            if let reason = failures.remembered(.home) { throw PlacementProblem.unavailable(.home, reason: reason) }
            // It may have to wait for another reading, which takes as long.
            let reading = Task { [readings] in try await readings.finish() }
            try await withDeadline(Self.readingLimit, margin: .zero) { try await reading.sharedResult.get() }
        } catch let problem as PlacementProblem {
            count(.failed)
            throw problem
        } catch  where !(error is CancellationError) {
            count(.failed)
            throw PlacementProblem.unavailable(.home, reason: "\(error)")
        }
    }

    private func look(for network: NetworkID) async throws -> (PlacementName, Lookup) {
        if let known = list.lastKnown?.placements[network] { return (known, .known) }
        if absent.remembered(network) != nil { return (.home, .absent) }
        let startedAt = now()
        try await read()
        if let found = list.lastKnown?.placements[network] { return (found, .found) }
        absent.keep((), as: network, readAt: startedAt)
        return (.home, .absent)
    }

    /// The placement that a network was in when that was last looked for; `nil` for one that was not heard of.
    package func lastKnown(_ network: NetworkID) -> PlacementName? { list.lastKnown?.placements[network] }

    /// How many networks each placement had when that was last looked for.
    package var counts: [PlacementName: Int] {
        (list.lastKnown?.placements.values).map { $0.reduce(into: [:]) { $0[$1, default: 0] += 1 } } ?? [:]
    }

    /// The list was begun or gone on with here: that is known when this returns.
    package func readAnew() async {
        absent.forget(nil)
        await list.readAnew()
    }

    /// The list was changed here: that is known when this returns, and soon to the other replicas.
    package func changed(in network: NetworkID) async {
        absent.forget(network)
        await list.changed(in: network)
    }
}
