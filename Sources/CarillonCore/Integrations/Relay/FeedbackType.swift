/// The types of what endpoints are told that no event says (FACES section C1). Only those who name it are told, not those who
/// want all.
package enum FeedbackType: String, Sendable, CaseIterable {
    /// Devices were reached.
    case deliveryDelivered = "delivery.delivered"
    /// Devices were given up.
    case deliveryFailed = "delivery.failed"
    /// Devices are gone.
    case deviceDeleted = "device.deleted"
    /// Devices are kept, and not sent to.
    case deviceQuarantined = "device.quarantined"
    /// Devices are sent to from now on, or in another way.
    case deviceRegistered = "device.registered"
    /// Push services say that devices are gone.
    case deviceUnregistered = "device.unregistered"
    /// A lane waits.
    case lanePaused = "lane.paused"
    /// A lane is sent to again.
    case laneResumed = "lane.resumed"
    /// Somebody is subscribed to a tag.
    case subscriptionCreated = "subscription.created"
    /// Somebody is not subscribed to a tag any more.
    case subscriptionDeleted = "subscription.deleted"
}

extension [Endpoint] {
    /// Whether any of them asks to be told of any of these.
    package func want(_ types: [FeedbackType]) -> Bool {
        contains { endpoint in types.contains { endpoint.settings.concerns($0.rawValue) } }
    }
}
