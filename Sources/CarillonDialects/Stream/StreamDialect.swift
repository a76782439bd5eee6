package import CarillonCore

/// The webhooks of GetStream's Chat (DIALECTS section 5).
package struct StreamDialect: EventDialect {
    /// What a channel is known by.
    enum ChannelIDs: String, CaseIterable {
        /// Its type and id, which together are unique.
        case cid
        case id
    }

    package let name = DialectName.stream

    package func settings(from reader: inout JSONObjectReader) -> JSONObject {
        var settings = JSONObject()
        if let ids = reader.choice("channelId", as: ChannelIDs.self) { settings["channelId"] = .string(ids.rawValue) }
        return settings
    }

    /// Passes what is signed by `X-Signature`: in hexadecimal, over the body as it is unpacked.
    package func verify(
        _ request: DialectRequest,
        _ document: DialectDocument,
        now: Timestamp
    ) throws(DialectRefusal) {
        guard let signature = try request.proof("x-signature") else { throw .unproven("X-Signature is missing") }
        guard Proof.isSigned(request.body, by: document.secrets, Proof.bytes(hex: signature)) else {
            throw .unproven("X-Signature does not match")
        }
    }

    package func read(
        _ request: DialectRequest,
        _ settings: DialectSettings,
        now: Timestamp
    ) throws(DialectRefusal) -> DialectReading {
        let body = try request.object()
        let type = try body.discriminator("type")
        let ids = settings.text("channelId").flatMap(ChannelIDs.init) ?? .cid
        return DialectReading([StreamReading(type, request, body, ids, now: now).event])
    }
}
