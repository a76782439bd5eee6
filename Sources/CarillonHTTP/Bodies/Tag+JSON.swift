import CarillonCore

extension Tag {
    /// The longest description, in bytes.
    static let maximumDescription = 1000

    var json: JSONValue {
        [
            "id": .string(id.rawValue),
            "description": JSONValue(description),
            "selfService": .bool(isSelfService),
            "createdAt": JSONValue(createdAt),
            "updatedAt": JSONValue(updatedAt),
        ]
    }

    /// Reads what `PUT /tags/{tag}` takes.
    init(id: TagID, json: JSONValue) throws(InvalidInput) {
        self = try json.read(as: "invalid-tag") { reader in Tag(id: id, from: &reader) }
    }

    init(id: TagID, from reader: inout JSONObjectReader) {
        self.init(
            id: id,
            description: reader.string("description", maximumBytes: Self.maximumDescription),
            isSelfService: reader.bool("selfService") ?? false
        )
    }
}

extension Subscriber {
    var json: JSONValue {
        switch self {
        case .device(let id): ["deviceId": .string(id.rawValue)]
        case .user(let id): ["userId": .string(id.rawValue)]
        }
    }

    /// What a page of subscribers is ordered by.
    var cursor: String { "\(kind.rawValue):\(id)" }

    init?(cursor: String) {
        guard let colon = cursor.firstIndex(of: ":"), let kind = Kind(rawValue: String(cursor[..<colon])) else {
            return nil
        }
        self.init(kind, trusted: String(cursor[cursor.index(after: colon)...]))
    }
}
