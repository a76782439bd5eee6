enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `2026-11-20T10:00:00.000Z info Sentence key=value`.
    case text
    /// For machines: a JSON object a line.
    case json
}
