package import CarillonCore

extension DeliveryGroup {
    /// The only message of a group; `nil` when it has none, or several.
    package var relayKey: RelayKey? { relayKeys.count == 1 ? relayKeys[0] : nil }

    package var event: RelayedEvent { RelayedEvent(cause.eventID, cause.eventType, receivedAt: cause.receivedAt) }

    /// What devices are sent; nothing where an endpoint is told of something.
    package var sent: DevicePush {
        get {
            switch payload {
            case .devices(let sent): sent
            case .messages: DevicePush(Push(Notification(locale: "", title: "", body: "")))
            }
        }
        set { payload = .devices(newValue) }
    }
}

extension Target {
    /// Whether the last outcome of a device was an error.
    package var hasError: Bool {
        if case .device(_, _, let hasError) = destination { hasError } else { false }
    }
}
