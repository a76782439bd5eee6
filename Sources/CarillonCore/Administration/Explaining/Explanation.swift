/// What would happen to one user by an event.
package struct Explanation: Sendable {
    /// What the verdict depends on, in the order in which it is asked.
    package enum Stage: String, Sendable {
        /// Nobody is notified of their own act.
        case actor
        /// The event does not concern the user.
        case notMember
        /// The event itself is kept from the user.
        case event
        /// The admin's switches.
        case network
        /// The user's switches for everything.
        case user
        /// The user's switches for the channel.
        case channel
        case noDevice

        init(_ level: ToggleLevel) {
            switch level {
            case .network: self = .network
            case .user: self = .user
            case .channel: self = .channel
            }
        }
    }

    /// What one level says by itself.
    package struct Level: Sendable {
        package var level: ToggleLevel
        /// Whether it allows the notification.
        package var allows: Bool
        /// When its document was last set; `nil` when it never was.
        package var updatedAt: Timestamp?
    }

    /// The first that forbids; `nil` when the user would be notified.
    package var decidedBy: Stage?
    /// The field that decided, of a toggle document or of the event.
    package var reason: String?
    /// All three levels.
    package var levels: [Level]
    /// What would be shown on the first of the devices; `nil` for an event that nobody is notified of.
    package var notification: Notification?
    /// The endpoint that would be asked first, with its terms; `nil` when none would be.
    package var interceptor: (id: EndpointID, terms: EndpointRole.Interception)?
    /// Where it would be shown.
    package var devices: [Device]
}
