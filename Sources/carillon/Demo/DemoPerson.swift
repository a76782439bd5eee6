import CarillonCore
import Foundation

struct DemoPerson: Sendable {
    let id: String

    /// What became of an event for this person: the device's outcome, or who said no and why.
    func line(_ delivery: JSONValue?, _ explanation: JSONValue, on terminal: Terminal) -> String {
        let name = id.capitalized.padded(to: 6)
        if let delivery, let state = delivery["state"]?.text, let provider = delivery["provider"]?.text {
            let title = explanation["notification"]?["title"]?.text ?? ""
            let body = explanation["notification"]?["body"]?.text ?? ""
            let isDelivered = state == "delivered"
            let outcome = terminal.styled(state.padded(to: 10), isDelivered ? .green : .red)
            let reason = isDelivered ? "" : delivery["reason"]?.text.map { " (\($0))" } ?? ""
            return "\(name) \(outcome) \(provider.padded(to: 8)) \(title) | \(body)\(reason)"
        }
        let level = explanation["decidedBy"]?.text ?? "nobody"
        let reason = explanation["reason"]?.text.map { " (\($0))" } ?? ""
        let verdict = terminal.styled("nothing".padded(to: 10), .yellow)
        return "\(name) \(verdict) \(Self.explanations[level] ?? "suppressed by \(level)\(reason)")"
    }

    private static let explanations = [
        "actor": "did it",
        "notMember": "is not concerned",
        "noDevice": "has no device",
    ]
}
