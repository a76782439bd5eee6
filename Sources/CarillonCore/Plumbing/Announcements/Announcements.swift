import Synchronization

/// Tells other replicas what was changed here, and this one what was changed there.
///
/// What is announced must be committed already. An announcement is a wake-up and no truth: it may be lost, come twice or
/// come late, so whoever subscribes drops what it remembers and reads anew, and does so from time to time in any case. A
/// replica does not hear itself: who makes a change forgets what is remembered here, and announces it for the others.
package final class Announcements: Sendable {
    /// Told whose something was changed; `nil` when it may be anybody's. It must not block.
    package typealias Handler = @Sendable (NetworkID?) -> Void

    private struct State {
        var handlers: [Announcement.Topic: [Handler]] = [:]
        var waiting = AnnouncementBatch.some([])
        var areHeard = false
    }

    /// More than these, and listing them is not worth it.
    private static let capacity = 1_000

    private let state = Mutex(State())
    private let wake: AsyncStream<Void>.Continuation
    /// Says that something waits to be carried to the others; several announcements in a row are said once.
    package let wakeups: AsyncStream<Void>

    package init() {
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Has `handler` called with every change of a topic that another replica makes.
    package func subscribe(to topic: Announcement.Topic, _ handler: @escaping Handler) {
        state.withLock { $0.handlers[topic, default: []].append(handler) }
    }

    /// Whether what other replicas announce is heard here, as far as is known.
    package var areHeard: Bool { state.withLock(\.areHeard) }

    /// Tells the other replicas that something was changed; returns at once.
    package func announce(_ topic: Announcement.Topic, in network: NetworkID) {
        putBack(.some([Announcement(topic, in: network)]))
    }
}

// MARK: - For those who carry

extension Announcements {
    /// Takes what waits to be told; `nil` when nothing does.
    package func take() -> AnnouncementBatch? {
        state.withLock { state in
            defer { state.waiting = .some([]) }
            return state.waiting == .some([]) ? nil : state.waiting
        }
    }

    /// Takes back what could not be told.
    package func putBack(_ batch: AnnouncementBatch) {
        state.withLock { state in
            guard case .some(let former) = state.waiting, case .some(let further) = batch else {
                state.waiting = .everything
                return
            }
            let all = former.union(further)
            state.waiting = all.count > Self.capacity ? .everything : .some(all)
        }
        wake.yield()
    }

    /// Notes whether what others announce is heard here from now on.
    package func hear(_ areHeard: Bool) { state.withLock { $0.areHeard = areHeard } }

    /// Tells the subscribers what another replica has announced.
    package func deliver(_ batch: AnnouncementBatch) {
        let handlers = state.withLock(\.handlers)
        switch batch {
        case .everything:
            for handler in handlers.values.joined() { handler(nil) }
        case .some(let announcements):
            for announcement in announcements {
                for handler in handlers[announcement.topic] ?? [] { handler(announcement.networkID) }
            }
        }
    }
}
