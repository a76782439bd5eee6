import CarillonCore

/// The webhooks of Amity Social Cloud, by its newer name social.plus (DIALECTS section 3).
struct AmityDialect: EventDialect {
    let name = DialectName.amity
    let mayHoldSeveral = true
    let answer = DialectAnswer.nothing

    /// Passes what is signed by `x-amity-signature`, in Base64 or hexadecimal: their pages show both. A second copy of a request may
    /// carry `x-eko-signature` instead, which is worth nothing to a sender when it is refused.
    func verify(_ request: DialectRequest, _ document: DialectDocument, now: Timestamp) throws(DialectRefusal) {
        let isRight = { (signature: String) in
            let code = signature.utf8.count == 64 ? Proof.bytes(hex: signature) : Proof.bytes(base64: signature)
            return Proof.isSigned(request.body, by: document.secrets, code)
        }
        let former = try request.proof("x-eko-signature")
        if let signature = try request.proof("x-amity-signature") {
            guard isRight(signature) else { throw .unproven("x-amity-signature does not match") }
        } else if let former {
            guard isRight(former) else {
                throw .dropped("x-eko-signature does not match, and there is no x-amity-signature")
            }
        } else {
            throw .unproven("x-amity-signature is missing")
        }
    }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        let body = try post.object()
        // Finished notifications come in an envelope of their own.
        if body["event"] == nil, body["eventType"] != nil { return AmityPush(body: body, post: post).reading }
        return AmityReading(try body.discriminator("event"), body, post).reading
    }
}
