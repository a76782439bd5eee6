import CarillonCore

/// The webhooks of TalkJS (DIALECTS section 8).
struct TalkJSDialect: EventDialect {
    /// How far a timestamp may be from now.
    private static let tolerance = Duration.seconds(300)

    let name = DialectName.talkjs

    /// Passes what is signed by `X-TalkJS-Signature` lately: in hexadecimal, over the timestamp, a full stop and the body.
    func verify(_ request: DialectRequest, _ document: DialectDocument, now: Timestamp) throws(DialectRefusal) {
        let signature = try request.proof("x-talkjs-signature", called: "X-TalkJS-Signature")
        let timestamp = try request.proof("x-talkjs-timestamp", called: "X-TalkJS-Timestamp")
        let signed = Array("\(timestamp).".utf8) + request.body
        guard Proof.isSigned(signed, by: document.secrets, Proof.bytes(hex: signature)) else {
            throw .unproven("X-TalkJS-Signature does not match")
        }
        guard let moment = Int64(timestamp).map({ Timestamp(milliseconds: $0) }),
            now - Self.tolerance <= moment, moment <= now + Self.tolerance
        else { throw .unproven("X-TalkJS-Timestamp is too far from now") }
    }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        let body = try post.object()
        return DialectReading([TalkJSReading(type: try body.discriminator("type"), body: body, post: post).event])
    }
}
