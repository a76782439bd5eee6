/// What Buzz's apps read of an event's notification, beside what all apps get (FACES part G).
struct BuzzPayload {
    private let keys: JSONObject

    /// The payload of an event; `nil` for those that are not the chat's.
    init?(_ event: Event, _ names: DirectoryNames) {
        guard event.type.hasTemplates, let channel = event.channel else { return nil }
        // An invitation is the only thing besides messages that has a number.
        var keys: JSONObject = [
            "notificationType": [.channelCreated, .channelInvited].contains(event.type) ? 1 : 0,
            "roomId": .string(channel.id.rawValue),
        ]
        if let person = event.actor ?? event.members.first {
            keys["userName"] = .string(
                TemplatePart.title.cleaned(names.name(of: person)).shortened(toCharacters: 200, bytes: 800)
            )
        }
        keys["content"] = ["$text": "body"]
        self.keys = keys
    }

    /// Content with these keys where apps look for them: at the root of what Apple sends, among the data of what Google does.
    func added(to content: PushContent?, for provider: ProviderName) -> PushContent? {
        var content = content ?? PushContent()
        var part = content.parts[provider] ?? RawPart()
        for (key, value) in keys.members {
            switch provider {
            case .apns: part.payload[key] = value
            case .fcm:
                var data = part.payload["data"]?.object ?? JSONObject()
                data[key] = value
                part.payload["data"] = .object(data)
            default: return content
            }
        }
        content.parts[provider] = part
        return content
    }
}
