import CarillonCore
import Synchronization

/// Places for reading pages: lists, journals and figures (API section 13).
///
/// Admins have no rate, and a page is much to read and to write: PostgreSQL and this service have one processor busy with it from
/// beginning to end, one after the other. So those who read for one network share no more places than half of the processors, and
/// all networks half of the connections to the database, so that events and deliveries have the others. The operator has a share besides.
package final class PagePlaces: Sendable {
    /// How many places a network has, where there are so many.
    static let ofNetwork = 8
    /// How many of its requests wait beside so many.
    static let line = 64
    package static let patience = Duration.seconds(10)
    /// How many wait of all networks.
    private static let lineOfAll = 8_192

    /// All that is read of a network stands in one line.
    fileprivate enum Line: Hashable {
        case pages
    }

    fileprivate typealias Places = FairPlaces<NetworkID?, Line>

    private let places: Places

    /// Places for a service.
    package init(connections: Int, processors: Int, patience: Duration = PagePlaces.patience) {
        places = Places(limits: Self.limits(connections, processors), patience: patience)
    }

    var taken: Int { places.taken }
    var waiting: Int { places.waiting }

    fileprivate func place(for network: NetworkID?) async -> Places.Place? {
        await places.place(of: network, in: .pages)
    }

    private static func limits(_ connections: Int, _ processors: Int) -> FairQueueLimits {
        let all = max(1, connections / 2)
        let most = min(ofNetwork, max(1, processors / 2))
        // Whoever has none gets one beyond those that others have.
        var limits = FairQueueLimits(weight: lineOfAll, places: all, placesPerTenant: most, mostPlaces: all + 1)
        let own = min(most, max(1, all * limits.share / (limits.share + 1)))
        limits.weightPerLane = line + ofNetwork - own
        return limits
    }
}

/// What a request that reads pages holds while it does.
final class PageHold: Sendable {
    private let place = Mutex<PagePlaces.Places.Place?>(nil)

    /// Waits for a place, unless the request has one.
    /// - Throws: 429 when there is none.
    func take(from places: PagePlaces, for network: NetworkID?) async throws(Problem) {
        guard place.withLock({ $0 == nil }) else { return }
        guard let place = await places.place(for: network) else { throw .tooManyRequests(retryAfter: .seconds(1)) }
        self.place.withLock { $0 = place }
    }

    func end() {
        place.withLock { $0.take() }?.giveBack()
    }
}
