extension Endpoint {
    package func isTold(of type: String, acceptedAt acceptance: Timestamp) -> Bool {
        guard case .observe = settings.role else { return false }
        return isInUse(at: acceptance) && settings.concerns(type)
    }

    /// Whether an event's body is kept for it: it is told of the event, or may be when it is in use again.
    fileprivate func keeps(_ type: String, acceptedAt acceptance: Timestamp) -> Bool {
        guard case .observe(let observation) = settings.role, settings.concerns(type) else { return false }
        if isInUse(at: acceptance) { return true }
        return observation.replayHours > 0 && (state == .disabled || acceptance >= createdAt + Self.onset)
    }
}

extension [Endpoint] {
    /// Whether an event's body is kept for any of them.
    package func keepBody(of type: String, acceptedAt acceptance: Timestamp) -> Bool {
        contains { $0.keeps(type, acceptedAt: acceptance) }
    }
}
