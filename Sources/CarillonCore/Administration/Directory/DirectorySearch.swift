/// A page of users or channels that were looked for.
package struct SearchPage<Item: Sendable>: Sendable {
    /// What was found. There may be less than was asked for, even nothing, although there is more to come.
    package var items: [Item]
    /// Where the page ended; `nil` when there is no more.
    package var next: SearchCursor?

    package init(items: [Item], next: SearchCursor? = nil) {
        self.items = items
        self.next = next
    }
}

/// Where a page of what was looked for ended: what is found by its id comes first, in the order of the ids, then what is found by
/// its name alone, in the order of the names, and at last by another word of its name, in the order of these words and what follows
/// them; all as they are looked for (``SearchText``).
package enum SearchCursor: Sendable, Equatable {
    /// Behind what has this id.
    case id(key: String, id: String)
    /// Behind what has this name and this id.
    case name(key: String, id: String)
    /// Behind what has a name that goes on like this from one of its words on, and this id.
    case word(key: String, id: String)
}

extension SearchCursor: LosslessStringConvertible {
    /// Reads what ``description`` wrote; `nil` for anything else.
    package init?(_ description: String) {
        // Names may hold anything, so the text says how long the key is.
        let bytes = Array(description.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 1,
            let length = Int(String(decoding: bytes[1..<colon], as: UTF8.self)), length >= 0,
            length < bytes.count - colon,
            let key = String(validating: bytes[(colon + 1)...].prefix(length), as: UTF8.self),
            let id = String(validating: bytes[(colon + 1 + length)...], as: UTF8.self),
            !description.utf8.contains(0)
        else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "i"): self = .id(key: key, id: id)
        case UInt8(ascii: "n"): self = .name(key: key, id: id)
        case UInt8(ascii: "w"): self = .word(key: key, id: id)
        default: return nil
        }
    }

    package var description: String {
        switch self {
        case .id(let key, let id): "i\(key.utf8.count):\(key)\(id)"
        case .name(let key, let id): "n\(key.utf8.count):\(key)\(id)"
        case .word(let key, let id): "w\(key.utf8.count):\(key)\(id)"
        }
    }
}

/// How ids and names are compared with what is looked for.
package enum SearchText {
    /// Of a name, so many characters tell where it stands in the order.
    package static let orderedCharacters = 100
    /// The longest text that can be looked for, in bytes: as long as an id.
    package static let maximumBytes = UserID.maximumBytes
}
