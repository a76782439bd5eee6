import NIOCore

/// What is done about a request.
struct Reply {
    enum Manner {
        case answer(Answer)
        /// The first part of the body, and a reset.
        case cut(Answer)
        /// The body over and over.
        case endless(Answer)
        case silence
        case reset
        case refusal
        case goAway
        case disconnection
    }

    var manner: Manner
    var delay = TimeAmount.zero

    /// `nil` when the client sees no whole answer.
    var status: Int? {
        switch manner {
        case .answer(let answer): answer.status
        case .cut, .endless, .silence, .reset, .refusal, .goAway, .disconnection: nil
        }
    }

    /// Whether the client knows that its request was not processed.
    var isUnprocessed: Bool {
        switch manner {
        case .refusal, .goAway: true
        case .answer, .cut, .endless, .silence, .reset, .disconnection: false
        }
    }
}
