import CarillonCore

/// The most bytes of a payload: what Apple, Google and the browsers' push services take.
let maximumPayloadBytes = 4_096

/// The words of a payload; `nil` for those that it does not have, which only a notification can say that was written as such.
struct PushText {
    var title: String?
    var body: String?

    init(title: String?, body: String?) {
        self.title = title
        self.body = body
    }

    init(_ group: DeliveryGroup) {
        guard let text = group.devicePush?.notification else { return }
        let isDirect = group.isDirect
        title = !isDirect || !text.title.isEmpty ? text.title : nil
        body = !isDirect || !text.body.isEmpty ? text.body : nil
    }

    var isEmpty: Bool { title == nil && body == nil }

    var json: JSONObject { ["title": title.map(JSONValue.string), "body": body.map(JSONValue.string)] }

    /// What is made of these words, cut so that it takes at most `limit` bytes, and whether it does: it may take more even
    /// without any.
    ///
    /// The body gives way first. How often either stands in the payload is found by trying, since somebody may have put it into
    /// other places, too.
    func fitted<Payload>(
        to limit: Int,
        size: (Payload) -> Int,
        _ payload: (PushText) -> Payload
    ) -> (payload: Payload, fits: Bool) {
        let whole = payload(self)
        guard size(whole) > limit else { return (whole, true) }
        let empty = PushText(title: title.map { _ in "" }, body: body.map { _ in "" })
        let frame = size(payload(empty))
        let titles = title == nil ? 0 : size(payload(PushText(title: "x", body: empty.body))) - frame
        let bodies = body == nil ? 0 : size(payload(PushText(title: empty.title, body: "x"))) - frame
        var room = limit - frame
        // Where a text stands inside another one, as JSON in a string, it takes more than was counted.
        for _ in 0..<Self.mostCuts {
            let cut = payload(shortened(to: room, titles: titles, bodies: bodies))
            let excess = size(cut) - limit
            guard excess > 0 else { return (cut, true) }
            room -= excess
        }
        return (whole, false)
    }

    private static let mostCuts = 8

    private func shortened(to room: Int, titles: Int, bodies: Int) -> PushText {
        var result = self
        if let title, titles > 0 {
            // Of a body something is left to be seen: that it was cut.
            let least = bodies * min(body?.jsonByteCount ?? 0, "…".utf8.count)
            result.title = title.shortened(toJSONBytes: (room - least) / titles)
        }
        if let body, bodies > 0 {
            let rest = room - titles * (result.title?.jsonByteCount ?? 0)
            result.body = body.shortened(toJSONBytes: rest / bodies)
        }
        return result
    }
}

extension String {
    /// How long it is as a JSON string, without the quotes.
    fileprivate var jsonByteCount: Int { utf8.reduce(0) { $0 + $1.jsonByteCount } }

    fileprivate func shortened(toJSONBytes room: Int) -> String {
        var used = 0
        let limit = utf8.prefix { byte in
            used += byte.jsonByteCount
            return used <= room
        }
        .count
        guard limit < utf8.count else { return self }
        // The ellipsis takes the place of characters that are at least as long in JSON.
        return limit < "…".utf8.count ? "" : shortened(toCharacters: .max, bytes: limit)
    }
}

extension UInt8 {
    /// How long this byte of a string is in JSON (RFC 8259 section 7).
    fileprivate var jsonByteCount: Int {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): 2
        case 0..<0x20: 6
        default: 1
        }
    }
}
