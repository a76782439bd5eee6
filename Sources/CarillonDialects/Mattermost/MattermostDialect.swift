import CarillonCore

/// The outgoing webhooks of Mattermost (DIALECTS section 11): posts in public channels, and nothing else.
struct MattermostDialect: EventDialect {
    private static let form = "application/x-www-form-urlencoded"
    private static let mostFields = 100

    let name = DialectName.mattermost
    let mediaTypes: [String]? = ["application/json", form]

    /// The webhook's; nothing is signed.
    var proof: SenderProof { .token }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        let body = try object(of: post.request)
        guard let id = body["post_id"]?.messageID,
            let channel = Channel(body["channel_id"], name: body["channel_name"], namelessness: .generatedID),
            let sender = Person(body["user_id"], name: body["user_name"])
        else { return .ignored("it has no usable post_id, channel_id or user_id") }
        // Seconds in forms, milliseconds in JSON.
        let time = body["timestamp"]
        let seconds = time?.text.flatMap { Int($0) }.map { JSONValue.number(JSONNumber($0)) }
        let text = body["text"]?.text ?? ""
        let hasFiles = !(body["file_ids"]?.text?.isEmpty ?? true) || !body["file_ids"].elements.isEmpty
        let moment = seconds.map(post.clock.seconds) ?? post.clock.milliseconds(time)
        var event = Event.sent(SourceID.of(.mattermost, id), at: moment, in: channel, by: sender)
        event.message = Message(.string(id), content: hasFiles ? "file" : nil, text: text)
        return DialectReading([.known(event)])
    }

    /// The fields of a post, in either form.
    func object(of request: DialectRequest) throws(DialectRefusal) -> JSONValue {
        let type = (request.values("content-type").first ?? "").prefix { $0 != ";" }.lowercased()
        let first = request.body.first { !" \t\r\n".utf8.contains($0) }
        guard type.hasPrefix(Self.form) || type.isEmpty && first != UInt8(ascii: "{") else {
            return try request.object()
        }
        guard let fields = PercentEncoding.fields(of: request.body, upTo: Self.mostFields) else {
            throw .malformed("", "must be a form in UTF-8")
        }
        var body = JSONObject()
        // Of several with the same name the first counts; what cannot be stored of what users wrote is left out, as of JSON.
        for (name, value) in fields where body[name] == nil && !value.utf8.contains(0) { body[name] = .string(value) }
        return .object(body)
    }
}
