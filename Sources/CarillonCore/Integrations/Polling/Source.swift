/// A server of a network's own that is asked for events and notifications from time to time (FACES section H5).
package struct Source: Sendable, Equatable {
    /// The most sources of a network.
    package static let maximumCount = 20

    /// Its id, which its admins chose.
    package var id: SourceID
    package var settings: SourceSettings
    package var createdAt: Timestamp
    /// How far it has been read, in its own words; `nil` at the beginning.
    package var cursor: String?
    package var lastPollAt: Timestamp?
    /// How often it failed in a row.
    package var failures: Int
    /// How many of its items were no events and no notifications.
    package var skippedItems: Int
    package var lastError: String?

    /// A source that has just been made.
    package init(id: SourceID, settings: SourceSettings, createdAt: Timestamp) {
        self.id = id
        self.settings = settings
        self.createdAt = createdAt
        failures = 0
        skippedItems = 0
    }
}

/// Names one source inside a network.
package typealias SourceID = Identifier<Source>

/// What admins choose of a source.
package struct SourceSettings: Sendable, Equatable {
    /// How many seconds may lie between two polls.
    package static let intervals = 3...86_400
    /// The longest URL, in bytes: the cursor has to find room behind it.
    package static let maximumURLBytes = 1_024

    package var url: String
    /// How many seconds lie between two polls.
    package var interval: Int
    package var isEnabled: Bool

    package init(url: String, interval: Int, isEnabled: Bool = true) {
        self.url = url
        self.interval = interval
        self.isEnabled = isEnabled
    }

    /// The longest wait after failures, but for sources that are asked more seldom anyway.
    private static let longestWait = 3_600

    /// After how long a source is asked again that has failed so often in a row: twice the time with each failure, up to an hour.
    package func wait(afterFailures failures: Int) -> Duration {
        guard failures > 0 else { return .seconds(interval) }
        // No interval is shorter than two seconds, so that eleven doublings are more than an hour.
        let doubled = interval << min(failures, 11)
        return .seconds(max(interval, min(doubled, Self.longestWait)))
    }
}

/// A source that this replica asks and no other one, until its lease ends.
package struct ClaimedSource: Sendable {
    /// How long that lasts unless it is held on to: longer than a page may take.
    package static let leaseDuration = Duration.seconds(60)

    package var networkID: NetworkID
    package var id: SourceID
    package var settings: SourceSettings
    /// What its requests are signed with; `nil` when that cannot be read.
    package var secret: WebhookSecret?
    /// How far it has been read.
    package var cursor: String?
    /// How often it failed in a row.
    package var failures: Int
    /// The fence: a commit that names an older token changes nothing.
    package var leaseToken: Int64

    package init(
        networkID: NetworkID,
        id: SourceID,
        settings: SourceSettings,
        secret: WebhookSecret?,
        cursor: String?,
        failures: Int,
        leaseToken: Int64
    ) {
        self.networkID = networkID
        self.id = id
        self.settings = settings
        self.secret = secret
        self.cursor = cursor
        self.failures = failures
        self.leaseToken = leaseToken
    }
}

/// What a source answered, as it is to be stored.
package struct SourcePage: Sendable {
    package var events: [IncomingEvent]
    /// How far it has been read with them; `nil` for as far as before.
    package var cursor: String?
    package var skippedItems = 0
    package var error: String?
}
