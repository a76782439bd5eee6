package struct Subscription: Sendable, Hashable {
    package var tag: TagID
    package var subscriber: Subscriber

    package init(tag: TagID, subscriber: Subscriber) {
        self.tag = tag
        self.subscriber = subscriber
    }
}

extension Subscription: Comparable {
    /// Orders by tags, then by subscribers.
    package static func < (left: Self, right: Self) -> Bool {
        (left.tag, left.subscriber) < (right.tag, right.subscriber)
    }
}

/// Which of a network's subscriptions are looked for; all that is said must hold.
package struct SubscriptionFilter: Sendable, Equatable {
    /// Only those to this tag.
    package var tag: TagID?
    /// Only those of one of these; `nil` for everybody's.
    package var subscribers: [Subscriber]?

    /// A filter; one that says nothing lets all through.
    package init(tag: TagID? = nil, subscribers: [Subscriber]? = nil) {
        self.tag = tag
        self.subscribers = subscribers
    }
}
