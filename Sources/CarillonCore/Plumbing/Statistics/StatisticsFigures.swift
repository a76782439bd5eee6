/// What happened in some time, counted; figures of several times, or several replicas, are added up.
///
/// What is taken back counts as less than nothing where that happens: users whom a toggle stopped after they had been counted as
/// notified, dead letters that are sent once more.
package struct StatisticsFigures: Sendable, Equatable {
    /// Events that were posted.
    package struct Acceptances: Sendable, Equatable {
        /// Those that were new.
        package var accepted = 0
        /// Those that were known.
        package var duplicate = 0

        package init() {}

        package mutating func add(_ other: Self) {
            accepted += other.accepted
            duplicate += other.duplicate
        }
    }

    /// What events' recipients are told apart by.
    package struct Subject: Sendable, Hashable {
        package var type: EventType
        /// Whose switch is asked.
        package var module: Module

        package init(type: EventType, module: Module) {
            self.type = type
            self.module = module
        }
    }

    /// Users whom events concerned.
    package struct Recipients: Sendable, Equatable {
        /// Those with at least one delivery.
        package var notified = 0
        /// Those who have no active device.
        package var noDevice = 0
        /// Those whom a level forbade to notify.
        package var suppressed: [ToggleLevel: Int] = [:]
        /// Those whom an endpoint left out.
        package var intercepted = 0

        package init() {}

        package mutating func add(_ other: Self) {
            notified += other.notified
            noDevice += other.noDevice
            intercepted += other.intercepted
            suppressed.merge(other.suppressed, uniquingKeysWith: +)
        }
    }

    /// Devices of one provider that notifications went to.
    package struct Deliveries: Sendable, Equatable {
        /// Taken by the push service.
        package var delivered = 0
        package var unregistered = 0
        /// Not worth delivering any more.
        package var expired = 0
        /// Given up.
        package var dead = 0
        /// Attempts that failed and were to be made once more.
        package var retries = 0

        package init() {}

        package mutating func add(_ other: Self) {
            delivered += other.delivered
            unregistered += other.unregistered
            expired += other.expired
            dead += other.dead
            retries += other.retries
        }
    }

    /// Posts of those who send events or notifications.
    package struct Posts: Sendable, Equatable {
        package var all = 0
        /// Those that were answered with 401, 403 or 404.
        package var refused = 0

        package init() {}

        package mutating func add(_ other: Self) {
            all += other.all
            refused += other.refused
        }
    }

    package var events: [EventType: Acceptances] = [:]
    package var recipients: [Subject: Recipients] = [:]
    package var deliveries: [ProviderName: Deliveries] = [:]
    /// From the 202 to the first hand-over to a provider, of each notification to a device.
    package var latency = LatencyHistogram()
    /// By the route behind that of the network, such as `events/stream`.
    package var posts: [String: Posts] = [:]

    package init() {}

    package var isEmpty: Bool { isOfPostsOnly && posts.isEmpty }

    /// Whether nothing came of what was posted, so that there is nothing to show.
    var isOfPostsOnly: Bool { events.isEmpty && recipients.isEmpty && deliveries.isEmpty && latency.isEmpty }

    package var acceptedEvents: Int { events.values.map(\.accepted).reduce(0, +) }
    package var refusedPosts: Int { posts.values.map(\.refused).reduce(0, +) }

    package mutating func add(_ other: StatisticsFigures) {
        for (type, counts) in other.events { events[type, default: Acceptances()].add(counts) }
        for (subject, counts) in other.recipients { recipients[subject, default: Recipients()].add(counts) }
        for (provider, counts) in other.deliveries { deliveries[provider, default: Deliveries()].add(counts) }
        latency.add(other.latency)
        for (route, counts) in other.posts { posts[route, default: Posts()].add(counts) }
    }
}
