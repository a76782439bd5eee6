import Logging
import Synchronization

extension FanoutWorker {
    private static let claimSize = 64
    private static let pace = PollPace(interval: .milliseconds(350), jitter: 0.4)
    private static let renewInterval = Duration.seconds(15)

    /// Claims events that nobody works on, again and again.
    func claimOrphans() async {
        await watch.activity.repeating(
            Self.pace,
            nextDue: { limit in try? await self.inbox.nextDue(within: limit) },
            {
                while await self.claimOnce() {}
                if let network = self.queue.takeRefused() { self.watch.activity.leave(network) }
            }
        )
    }

    /// Claims once; `true` when there is probably more, and room for it.
    private func claimOnce() async -> Bool {
        let limit = min(queue.room, Self.claimSize)
        guard limit > 0 else { return false }
        let events = await watch.attempt(.events) {
            try await inbox.claimEvents(limit: limit, excluding: queue.fullNetworks)
        }
        guard let events, !events.isEmpty else { return false }
        watch.activity.note()
        return await lineUp(events) && events.count == limit
    }

    /// Lines up events for which there is room, behind other networks', and leaves the others to whoever has some; whether there was any.
    @discardableResult
    func lineUp(_ events: [PendingEvent]) async -> Bool {
        guard !events.isEmpty else { return false }
        let isReserved = queue.reserve(events)
        await queue.submit(zip(events, isReserved).filter(\.1).map(\.0))
        await queue.giveBack(zip(events, isReserved).filter { !$0.1 }.map(\.0))
        return isReserved.contains(true)
    }

    /// Holds on to what waits, is expanded, or is asked about.
    func renewLeases() async {
        await repeating(every: Self.renewInterval) {
            let events = self.queue.events + self.asked.withLock { Array($0.values) }
            guard !events.isEmpty else { return }
            do {
                _ = try await self.inbox.renew(events)
            } catch {
                self.logger.debug("Could not renew leases of events", metadata: ["error": "\(error)"])
            }
        }
    }
}
