/// Where the delivery to one device stands.
package enum DeliveryState: String, Sendable, CaseIterable {
    case pending
    /// The push service took it.
    case delivered
    /// The device is gone: its provider said so, or it was unregistered or given to another user meanwhile.
    case unregistered
    /// It was not worth delivering any more.
    case expired
    /// It was given up and can be retried by hand.
    case dead
    /// A toggle forbade it after the event had been expanded.
    case suppressed
}
