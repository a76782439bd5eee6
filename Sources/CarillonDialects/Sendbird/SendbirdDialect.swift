package import CarillonCore

/// The webhooks of Sendbird (DIALECTS section 4).
package struct SendbirdDialect: EventDialect {
    /// Whether entering and leaving open channels is taken for joining and leaving: thousands an hour, where it is much used.
    static let openChannelPresence = "openChannelPresence"

    /// Whether what the application itself says in a channel is taken: its own pushes do not tell of it either, unless they are told to.
    static let adminMessages = "adminMessages"

    package let name = DialectName.sendbird

    package func settings(from reader: inout JSONObjectReader) -> JSONObject {
        var settings = JSONObject()
        reader.takeSwitch(Self.openChannelPresence, into: &settings)
        reader.takeSwitch(Self.adminMessages, into: &settings)
        return settings
    }

    /// Passes what is signed by `x-sendbird-signature`: in hexadecimal, with the application's master API token.
    package func verify(
        _ request: DialectRequest,
        _ document: DialectDocument,
        now: Timestamp
    ) throws(DialectRefusal) {
        guard let signature = try request.proof("x-sendbird-signature") else {
            throw .unproven("x-sendbird-signature is missing")
        }
        guard Proof.isSigned(request.body, by: document.secrets, Proof.bytes(hex: signature)) else {
            throw .unproven("x-sendbird-signature does not match")
        }
    }

    package func read(
        _ request: DialectRequest,
        _ settings: DialectSettings,
        now: Timestamp
    ) throws(DialectRefusal) -> DialectReading {
        let body = try request.object()
        let category = try body.discriminator("category")
        return DialectReading([SendbirdReading(category, request.body, body, settings, now: now).event])
    }
}
