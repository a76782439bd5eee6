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

extension Reply.Manner {
    init(_ fault: Fault) {
        self =
            switch fault {
            case .hang: .silence
            case .reset: .reset
            case .disconnect: .disconnection
            case .goAway: .goAway
            case .refused: .refusal
            case .html: .answer(Answer(502, type: "text/html; charset=UTF-8", text: Self.page))
            case .truncated: .answer(Answer(400, json: Self.halfOfDocument))
            case .cut: .cut(Answer(400, type: "application/json", partOfText: Self.halfOfDocument))
            case .endless: .endless(Answer(200))
            case .manyHeaders: .answer(Answer(200, headers: Self.manyHeaders))
            case .retryNegative: .answer(Answer(503, headers: [("retry-after", "-1")]))
            case .retryPast: .answer(Answer(503, headers: [("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]))
            case .retryHuge: .answer(Answer(503, headers: [("retry-after", "1000000000000")]))
            case .retrySoon: .answer(Answer(503, headers: [("retry-after", "1")]))
            }
    }

    private static let halfOfDocument = #"{"error":{"code":400,"message":"The regis"#

    private static let page = """
        <!DOCTYPE html>
        <html lang=en><title>Error 502 (Server Error)!!1</title>
        <p><b>502.</b> <ins>That’s an error.</ins> <p>The server encountered a temporary error.
        """

    private static let manyHeaders = (0..<10_000).map { ("x-filler-\($0)", "filler") }
}
