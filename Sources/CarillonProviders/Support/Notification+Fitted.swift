import CarillonCore

/// The most bytes of a payload: what Apple, Google and the browsers' push services take.
let maximumPayloadBytes = 4_096

extension Notification {
    /// This notification, cut so that title and body together take at most `room` bytes as JSON strings.
    ///
    /// The body gives way first; the title keeps at least half of the room.
    func fitted(toJSONBytes room: Int) -> Notification {
        var result = self
        result.title = title.shortened(toJSONBytes: max(room / 2, room - body.jsonByteCount))
        result.body = body.shortened(toJSONBytes: room - result.title.jsonByteCount)
        return result
    }
}

extension String {
    /// How long it is as a JSON string, quotes included.
    fileprivate var jsonByteCount: Int { utf8.reduce(2) { $0 + $1.jsonByteCount } }

    fileprivate func shortened(toJSONBytes room: Int) -> String {
        var used = 2
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
