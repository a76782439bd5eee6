/// Which types of events an endpoint wants: exact ones, all of a kind (`message.*`), or `*`.
package struct EndpointEvents: Sendable, Equatable {
    package static let maximumCount = 50

    private static let notifying = Set(EventType.notifying.map(\.rawValue))
    /// What an endpoint may be told of: what was accepted.
    private static let known = Set(EventType.known.map(\.rawValue))

    private static let feedback = Set(FeedbackType.allCases.map(\.rawValue))

    /// The patterns as they were written, each once.
    package let patterns: [String]

    /// Takes patterns that were checked before.
    package init(trusted patterns: [String]) {
        self.patterns = patterns
    }

    /// The types that an endpoint may name.
    package static func types(for mode: EndpointRole.Mode) -> Set<String> {
        switch mode {
        case .observe: known.union(feedback)
        case .intercept: notifying
        }
    }

    /// Whether a pattern stands for at least one type that such an endpoint may name.
    package static func isKnown(_ pattern: String, for mode: EndpointRole.Mode) -> Bool {
        !types(of: pattern, for: mode).isEmpty
    }

    package static func types(of pattern: String, for mode: EndpointRole.Mode) -> Set<String> {
        types(for: mode).filter { matches($0, pattern) }
    }

    /// Whether a type is among them. Of all of a kind, an endpoint that is asked means those that people are notified of.
    package func contains(_ type: String, for mode: EndpointRole.Mode) -> Bool {
        Self.types(for: mode).contains(type) && patterns.contains { Self.matches(type, $0) }
    }

    private static func matches(_ type: String, _ pattern: String) -> Bool {
        if pattern == type { return true }
        if pattern == "*" { return !feedback.contains(type) }
        return pattern.hasSuffix(".*") && type.hasPrefix(pattern.dropLast())
    }
}
