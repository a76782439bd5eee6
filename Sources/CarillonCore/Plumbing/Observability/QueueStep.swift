/// What the service does with its queues by itself, again and again: nobody is told when it fails.
package enum QueueStep: String, CaseIterable, Sendable {
    case events
    case deliveries
    case expired
    case changes
    case sources
    case replays
    case age

    /// Those without which what ``OutboxClaims/oldestWait()`` measures stays where it is.
    package static let claims: [QueueStep] = [.events, .deliveries]

    /// Whether what it writes makes nothing due that it does not answer.
    var isRoutine: Bool { self != .replays }

    package var words: String {
        switch self {
        case .events: "claiming accepted events"
        case .deliveries: "claiming due deliveries"
        case .expired: "claiming expired deliveries"
        case .changes: "looking for changes before sending"
        case .sources: "claiming sources"
        case .replays: "going on with replays"
        case .age: "measuring the queues"
        }
    }
}
