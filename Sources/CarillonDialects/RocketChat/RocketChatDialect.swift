package import CarillonCore

/// The outgoing integrations of Rocket.Chat (DIALECTS section 10).
package struct RocketChatDialect: EventDialect {
    /// Whether what integrations and bots have written is passed over.
    static let ignoreBots = "ignoreBots"

    package let name = DialectName.rocketchat
    package let isProvenByBody = true

    package func settings(from reader: inout JSONObjectReader) -> JSONObject {
        var settings = JSONObject()
        reader.takeSwitch(Self.ignoreBots, into: &settings)
        return settings
    }

    /// Passes a body with the integration's token in it: nothing is signed.
    package func verify(
        _ request: DialectRequest,
        _ document: DialectDocument,
        now: Timestamp
    ) throws(DialectRefusal) {
        guard let token = try request.object()["token"]?.text else { throw .unproven("token is missing") }
        guard Proof.isOne(of: document.secrets, token) else { throw .unproven("token does not match") }
    }

    package func read(
        _ request: DialectRequest,
        _ settings: DialectSettings,
        now: Timestamp
    ) throws(DialectRefusal) -> DialectReading {
        let body = try request.object()
        // The body does not say what happened: each integration is for one kind, which its URL names.
        let kind = try request.parameter("event") ?? "sendMessage"
        return DialectReading([RocketChatReading(kind, request.body, body, settings, now: now).event])
    }
}
