extension InterceptionQuestion {
    /// The question as receivers know it that were built for Amity: a message is about to be sent. They are asked about nothing
    /// else, and what they answer of the text is meant for the notification's.
    var amityBody: JSONValue {
        let event = event.event
        var data = JSONObject()
        data["text"] = .string(event.message?.text ?? "")
        data["channelId"] = event.channel.map { .string($0.id.rawValue) }
        data["messageId"] = .string(event.message?.id ?? event.sourceID)
        var actor = JSONObject()
        if let id = event.actor?.id.rawValue {
            actor["_id"] = .string(id)
            actor["userId"] = .string(id)
        }
        return ["eventName": "message.shouldCreate", "data": .object(data), "actor": .object(actor)]
    }
}
