package import CarillonCore

/// The webhooks of CometChat (DIALECTS section 6).
package struct CometChatDialect: EventDialect {
    package let name = DialectName.cometchat

    package func missing(in document: DialectDocument) -> String? { document.basic == nil ? "user and password" : nil }

    /// Passes who shows the user and password: nothing is signed.
    package func verify(
        _ request: DialectRequest,
        _ document: DialectDocument,
        now: Timestamp
    ) throws(DialectRefusal) {
        guard let basic = document.basic else { throw .unproven("no user and password are set for the webhook") }
        try Proof.isBasic(request, basic)
    }

    package func read(
        _ request: DialectRequest,
        _ settings: DialectSettings,
        now: Timestamp
    ) throws(DialectRefusal) -> DialectReading {
        let body = try request.object()
        let trigger = try body.discriminator("trigger")
        return DialectReading([CometChatReading(trigger, request.body, body, now: now).event])
    }
}
