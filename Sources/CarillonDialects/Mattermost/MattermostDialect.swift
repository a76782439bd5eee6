package import CarillonCore

/// The outgoing webhooks of Mattermost (DIALECTS section 11): posts in public channels, and nothing else.
package struct MattermostDialect: EventDialect {
    private static let form = "application/x-www-form-urlencoded"

    package let name = DialectName.mattermost
    package let mediaTypes: [String]? = ["application/json", form]
    package let isProvenByBody = true

    /// Passes a body with the webhook's token in it: nothing is signed.
    package func verify(
        _ request: DialectRequest,
        _ document: DialectDocument,
        now: Timestamp
    ) throws(DialectRefusal) {
        guard let token = try post(request)["token"]?.text else { throw .unproven("token is missing") }
        guard Proof.isOne(of: document.secrets, token) else { throw .unproven("token does not match") }
    }

    package func read(
        _ request: DialectRequest,
        _ settings: DialectSettings,
        now: Timestamp
    ) throws(DialectRefusal) -> DialectReading {
        let post = try post(request)
        let clock = SenderClock(now: now)
        guard let id = post["post_id"]?.messageID,
            let channel = Channel(post["channel_id"], name: post["channel_name"], namelessness: .generatedID),
            let sender = Person(post["user_id"], name: post["user_name"])
        else { return .ignored("it has no usable post_id, channel_id or user_id") }
        // Seconds in forms, milliseconds in JSON.
        let time = post["timestamp"]
        let seconds = time?.text.flatMap { Int($0) }.map { JSONValue.number(JSONNumber($0)) }
        let text = post["text"]?.text ?? ""
        let hasFiles = !(post["file_ids"]?.text?.isEmpty ?? true) || !post["file_ids"].elements.isEmpty
        var event = Event(
            sourceID: SourceID.of(.mattermost, id),
            type: .messageSent,
            timestamp: seconds.map { clock.seconds($0) } ?? clock.milliseconds(time),
            channel: channel,
            actor: sender
        )
        event.message = Message(.string(id), content: hasFiles ? "file" : nil, text: text)
        return DialectReading([.known(event)])
    }

    /// The fields of a post, in either form.
    private func post(_ request: DialectRequest) throws(DialectRefusal) -> JSONValue {
        let type = (request.values("content-type").first ?? "").prefix { $0 != ";" }.lowercased()
        let first = request.body.first { !" \t\r\n".utf8.contains($0) }
        guard type.hasPrefix(Self.form) || type.isEmpty && first != UInt8(ascii: "{") else {
            return try request.object()
        }
        guard let fields = FormBody(request.body) else { throw .malformed("", "must be a form in UTF-8") }
        return .object(fields.json)
    }
}
