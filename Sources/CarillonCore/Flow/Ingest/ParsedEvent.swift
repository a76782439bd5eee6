/// What a body held that was posted as events: a single event is answered differently from an array of one.
package enum ParsedBody: Sendable, Equatable {
    /// One JSON object.
    case single(ParsedEvent)
    /// A JSON array of 1 to ``EventParser/maximumBatchCount`` events, in order.
    case batch([ParsedEvent])
}

/// One event as it was posted, checked.
package struct ParsedEvent: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case known(Event)
        /// A type that Carillon does not know: answered and forgotten. Its data was not looked at.
        case ignored(type: String)
    }

    /// The sender's own id of this event, from its body or from `webhook-id`.
    package var sourceID: String
    package var content: Content
    /// Its JSON exactly as it was posted: valid UTF-8 without U+0000 and lone surrogates, so that any database stores it.
    package var body: [UInt8]

    package init(sourceID: String, content: Content, body: [UInt8]) {
        self.sourceID = sourceID
        self.content = content
        self.body = body
    }
}
