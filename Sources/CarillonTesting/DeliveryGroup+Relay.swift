package import CarillonCore

extension DeliveryGroup {
    /// The only message of a group; `nil` when it has none, or several.
    package var relayKey: RelayKey? { relayKeys.count == 1 ? relayKeys[0] : nil }

    package var event: RelayedEvent { RelayedEvent(cause.eventID, cause.eventType, receivedAt: cause.receivedAt) }
}
