import CarillonCore

/// Reads a push-notification webhook: Amity has computed the recipients and the text, so it becomes a direct notification.
struct AmityPush {
    /// As many as one direct notification names.
    private static let mostPeople = 1_000

    let body: JSONValue
    let post: DialectPost

    var reading: DialectReading {
        guard body["eventType"]?.text == "push-notification.created" else {
            return .ignored("this eventType is nothing to notify of")
        }
        let data = body["data"] ?? [:]
        let texts = DirectTexts(.init(title: words(data["title"]), body: words(data["body"])))
        guard !texts.isEmpty else { return .ignored("there is no text") }
        let sender = Person(body["senderId"])
        let people = data["targetIds"].elements.compactMap { Person($0) }.unique.map(\.id).filter { $0 != sender?.id }
        guard !people.isEmpty else { return .ignored("targetIds names nobody") }
        let id = body["id"]?.idText.map { SourceID.of(.amity, "push", $0) } ?? SourceID.of(.amity, body: post.bytes)
        let channel = (data["channels"]?.oneOrMore ?? []).lazy.compactMap { Channel($0["channelId"]) }.first
        let shares = stride(from: 0, to: people.count, by: Self.mostPeople).map { start in
            Array(people[start..<min(start + Self.mostPeople, people.count)])
        }
        return DialectReading(
            shares.enumerated().map { index, share in
                var content = PushContent()
                content.data["channelId"] = channel.map { .string($0.id.rawValue) }
                var event = Event(
                    sourceID: index == 0 ? id : "\(id.beginning(ofBytes: 240) ?? "")|\(index)",
                    type: .notificationDirect,
                    timestamp: post.clock.rfc3339(body["sentTime"]),
                    channel: channel,
                    actor: sender
                )
                event.mentions = Set(share)
                event.isSilent = data["notify"] == .bool(false)
                event.direct = DirectNotification(
                    to: .people(share),
                    texts: texts,
                    module: module(of: data["eventName"]?.text ?? ""),
                    content: content
                )
                return .known(event)
            }
        )
    }

    private func words(_ value: JSONValue?) -> String? { value?.text.flatMap { $0.isEmpty ? nil : $0 } }

    /// Whose switch it is: that of the part of the product that it comes from.
    private func module(of event: String) -> Module {
        switch event.prefix(while: { $0 != "." && $0 != "-" }) {
        case "post", "comment", "follow", "mention", "story", "community", "poll": .social
        case "video": .video
        default: .chat
        }
    }
}
