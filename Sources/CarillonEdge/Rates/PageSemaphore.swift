import CarillonCore
import Synchronization

/// Permits to read pages: lists, journals and figures (API section 13).
///
/// Admins have no rate, and a page is much to read and to write: PostgreSQL and this service have one processor busy with it from
/// beginning to end, one after the other. So those who read for one network share no more permits than half of the processors, and
/// all networks half of the connections to the database, so that events and deliveries have the others. The operator has a share besides.
package final class PageSemaphore: Sendable {
    /// How many permits a network has, where there are so many.
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

    fileprivate typealias Semaphore = FairSemaphore<NetworkID?, Line>

    private let semaphore: Semaphore

    package init(connections: Int, processors: Int, patience: Duration = PageSemaphore.patience) {
        semaphore = Semaphore(limits: Self.limits(connections, processors), patience: patience)
    }

    var taken: Int { semaphore.taken }
    var waiting: Int { semaphore.waiting }

    fileprivate func permit(for network: NetworkID?) async -> Semaphore.Permit? {
        await semaphore.permit(of: network, in: .pages)
    }

    private static func limits(_ connections: Int, _ processors: Int) -> FairQueueLimits {
        let all = max(1, connections / 2)
        let most = min(ofNetwork, max(1, processors / 2))
        // Whoever has none gets one beyond those that others have.
        var limits = FairQueueLimits(weight: lineOfAll, slots: all, slotsPerTenant: most, mostSlots: all + 1)
        let own = min(most, max(1, all * limits.share / (limits.share + 1)))
        limits.weightPerLane = line + ofNetwork - own
        return limits
    }
}

/// What a request that reads pages holds while it does.
final class PageHold: Sendable {
    private let permit = Mutex<PageSemaphore.Semaphore.Permit?>(nil)

    /// Waits for a permit, unless the request has one.
    /// - Throws: 429 when there is none.
    func take(from semaphore: PageSemaphore, for network: NetworkID?) async throws(Problem) {
        guard permit.withLock({ $0 == nil }) else { return }
        guard let permit = await semaphore.permit(for: network) else { throw .tooManyRequests(retryAfter: .seconds(1)) }
        self.permit.withLock { $0 = permit }
    }

    func end() {
        permit.withLock { $0.take() }?.giveBack()
    }
}
