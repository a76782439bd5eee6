/// The types of what endpoints are told that no event says (FACES section C1). Only those who name it are told, not those who
/// want all.
package enum FeedbackType: String, Sendable, CaseIterable {
    case deliveryDelivered = "delivery.delivered"
    /// Devices were given up.
    case deliveryFailed = "delivery.failed"
    case deviceDeleted = "device.deleted"
    /// Devices are kept, and not sent to.
    case deviceQuarantined = "device.quarantined"
    /// Devices are sent to from now on, or in another way.
    case deviceRegistered = "device.registered"
    /// Push services say that devices are gone.
    case deviceUnregistered = "device.unregistered"
    case lanePaused = "lane.paused"
    case laneResumed = "lane.resumed"
    case subscriptionCreated = "subscription.created"
    case subscriptionDeleted = "subscription.deleted"
}

extension [Endpoint] {
    /// Whether any of them asks to be told of any of these.
    package func want(_ types: [FeedbackType]) -> Bool {
        contains { endpoint in types.contains { endpoint.settings.concerns($0.rawValue) } }
    }
}
