extension Message {
    /// What an event of a Matrix room says, as people read it: its words without the quotation of what it answers, what was written
    /// beside a picture or a file, and of what has no words what it is.
    ///
    /// - Parameters:
    ///   - matrixType: The event's type.
    ///   - content: Its content, as far as it can be read.
    /// - SeeAlso: <https://spec.matrix.org/latest/client-server-api/#mroommessage-msgtypes>
    package init?(matrixType: String, content: JSONObject) {
        switch matrixType {
        case "m.room.encrypted": self.init(kind: .other, typeName: "encrypted", text: "", special: .encrypted)
        case "m.sticker": self.init(kind: .other, typeName: "sticker", text: "", special: .sticker)
        case "m.poll.start", "org.matrix.msc3381.poll.start":
            self.init(kind: .other, typeName: "poll", text: "", special: .poll)
        case "m.call.invite", "m.call.notify", "m.rtc.notification", "org.matrix.msc4075.call.notify",
            "org.matrix.msc4075.rtc.notification":
            self.init(kind: .other, typeName: "call", text: "", special: .call)
        case "m.room.message":
            guard let type = content["msgtype"]?.text else { return nil }
            self.init(messageType: type, content)
        default:
            return nil
        }
    }

    private init(messageType: String, _ content: JSONObject) {
        let body = content["body"]?.text ?? ""
        let name = messageType.hasPrefix("m.") ? String(messageType.dropFirst(2)) : messageType
        switch messageType {
        case "m.text", "m.emote", "m.notice":
            self.init(kind: .text, text: content.isReply ? body.withoutQuotation : body)
        case "m.image":
            self.init(kind: .image, text: body, caption: content.caption)
        case "m.file", "m.audio", "m.video":
            self.init(kind: .other, typeName: name, text: body, caption: content.caption)
        default:
            self.init(kind: .other, typeName: name.beginning(ofBytes: Identifier<Message>.maximumBytes), text: body)
        }
    }
}

extension JSONObject {
    /// Words beside a file: without a name of its own, or with the same, the body is the file's name.
    fileprivate var caption: String? {
        guard let name = self["filename"]?.text, let body = self["body"]?.text, body != name else { return nil }
        return isReply ? body.withoutQuotation : body
    }

    fileprivate var isReply: Bool { self["m.relates_to"]?.has("m.in_reply_to") ?? false }
}

extension String {
    /// The text behind the lines that quote what it answers, for clients that know of no answers; the whole where nothing is behind them,
    /// or where they quote nobody.
    fileprivate var withoutQuotation: String {
        guard hasPrefix("> <@") || hasPrefix("> * <@") else { return self }
        let lines = split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let rest = lines.drop { $0.hasPrefix(">") }.drop(while: \.isEmpty)
        guard let first = rest.first, !rest.allSatisfy({ String($0).isBlank }) else { return self }
        return String(self[first.startIndex...])
    }
}
