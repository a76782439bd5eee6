/// Which of a network's registered devices are looked for; all that is said must hold.
package struct DeviceSelection: Sendable, Equatable {
    /// An app, as one push service knows it.
    package struct App: Sendable, Hashable {
        package var provider: ProviderName
        /// What it calls the app.
        package var appID: String

        package init(_ provider: ProviderName, _ appID: String) {
            self.provider = provider
            self.appID = appID
        }
    }

    package var apps: [App]
    package var device: DeviceID?
    /// The devices of this user.
    package var owner: UserID?
    /// Those that subscribe to this tag themselves.
    package var tag: TagID?
    /// Those that get what is sent to everyone, or those that do not.
    package var broadcasts: Bool?

    package init(
        apps: [App],
        device: DeviceID? = nil,
        owner: UserID? = nil,
        tag: TagID? = nil,
        broadcasts: Bool? = nil
    ) {
        self.apps = apps
        self.device = device
        self.owner = owner
        self.tag = tag
        self.broadcasts = broadcasts
    }
}

/// What a device subscribes to by itself.
package struct DeviceSubscription: Sendable, Hashable {
    package var device: DeviceID
    package var tag: TagID

    package init(device: DeviceID, tag: TagID) {
        self.device = device
        self.tag = tag
    }
}

/// A part of a list that is counted.
package struct CountedPage<Item: Sendable>: Sendable {
    /// So many are counted, and no list is read further.
    package static var maximumTotal: Int { 10_000 }

    package var items: [Item]
    /// How many there are in all, but never more than ``maximumTotal``.
    package var total: Int

    package init(items: [Item], total: Int) {
        self.items = items
        self.total = total
    }

    package init(of all: [Item], offset: Int, limit: Int) {
        items = Array(all.dropFirst(offset).prefix(limit))
        total = min(all.count, Self.maximumTotal)
    }
}
