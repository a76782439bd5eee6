/// What a server does that no protocol foresees, or that is seldom seen.
///
/// The raw value is the word that an FCM token or the path of a Web Push endpoint begins with.
package enum Fault: String, CaseIterable, Sendable {
    /// Reads the request and never answers.
    case hang
    /// Resets the stream after the request was read: whether it was processed stays unknown.
    case reset
    /// Ends the connection after the request was read.
    case disconnect
    /// Sends GOAWAY and refuses the stream, so that the request is surely not processed.
    case goAway = "goaway"
    /// Refuses the stream, so that the request is surely not processed.
    case refused
    /// Answers 502 with a page of HTML.
    case html
    /// Answers 400 with half of a JSON document.
    case truncated
    /// Answers 400 and resets the stream in the middle of the body.
    case cut
    /// Answers 200 with a body that never ends.
    case endless
    /// Answers 200 with 10,000 headers.
    case manyHeaders = "many-headers"
    /// Answers 503 with `Retry-After: -1`.
    case retryNegative = "retry-negative"
    /// Answers 503 with a `Retry-After` in the year 2015.
    case retryPast = "retry-past"
    /// Answers 503 with `Retry-After: 1000000000000`.
    case retryHuge = "retry-huge"
    /// Answers 503 with `Retry-After: 1`.
    case retrySoon = "retry-soon"

    /// What an APNs device token begins with to get this.
    package var apnsTokenPrefix: String {
        let number = (Self.allCases.firstIndex(of: self) ?? 0) + 1
        return "fa11000" + (number < 10 ? "0" : "") + String(number)
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
