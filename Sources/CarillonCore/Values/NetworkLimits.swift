/// How much of the service a network may use up (API section 2). Set by the operator.
package struct NetworkLimits: Sendable, Equatable {
    /// What is counted. The raw values are the names in the API.
    package enum Count: String, Sendable, CaseIterable {
        /// Devices in use of one user.
        case devicesPerUser
        /// Channels for which one user has a document of toggles.
        case channelsPerUser
        case templates
        /// Servers that its webhook devices name.
        case webhookHosts
        case tags
        /// Tags that one user, or one device, subscribes to.
        case tagsPerSubscriber
        case ownerlessDevices
    }

    /// Requests per second, each with ten seconds' worth at once.
    package struct RequestRates: Sendable, Equatable {
        /// Of one user, by user tokens.
        package var user = 20
        /// Of one key of role `device`: of all phones together that an app was installed on.
        package var app = 200
    }

    /// The most devices in use that a user may have, who registers them by user token or app key.
    package var devicesPerUser = 50
    /// The most channels for which a user may set toggles.
    package var channelsPerUser = 2_000
    /// The most templates of the network's own.
    package var templates = 300
    /// The most servers that webhook devices may name.
    package var webhookHosts = 1_000
    /// The most tags that may be declared, whoever does it.
    package var tags = 1_000
    /// The most tags that a user, or a device, may subscribe to by user tokens.
    package var tagsPerSubscriber = 200
    /// About the most devices of nobody's that apps may register, or that may come with notifications from without.
    package var ownerlessDevices = 1_000_000
    /// The most events posted per second, with ten seconds' worth at once; `nil` for any number.
    package var eventsPerSecond: Int?
    package var requestsPerSecond = RequestRates()

    package init() {}

    package subscript(count: Count) -> Int {
        get { self[keyPath: count.path] }
        set { self[keyPath: count.path] = newValue }
    }
}

extension NetworkLimits.Count {
    fileprivate var path: WritableKeyPath<NetworkLimits, Int> {
        switch self {
        case .devicesPerUser: \.devicesPerUser
        case .channelsPerUser: \.channelsPerUser
        case .templates: \.templates
        case .webhookHosts: \.webhookHosts
        case .tags: \.tags
        case .tagsPerSubscriber: \.tagsPerSubscriber
        case .ownerlessDevices: \.ownerlessDevices
        }
    }
}

/// A network has as much of something as it may have: nothing was changed.
package struct LimitReached: Error, Sendable, Equatable {
    package var count: NetworkLimits.Count
    package var limit: Int

    package init(_ count: NetworkLimits.Count, _ limit: Int) {
        self.count = count
        self.limit = limit
    }
}
