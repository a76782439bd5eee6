extension JSONObjectReader {
    /// An id of 1 to 256 bytes without control characters, not `.` or `..`. For users see ``userID(_:required:)``.
    package mutating func identifier<Subject>(
        _ key: String,
        as subject: Subject.Type,
        required: Bool = false
    ) -> Identifier<Subject>? {
        guard let value = value(key, required: required) else { return nil }
        guard case .string(let text) = value, let identifier = Identifier<Subject>(text) else {
            refuse(key, InputRule.identifier)
            return nil
        }
        return identifier
    }

    /// A user's id: any id but `me`, which paths reserve for the user who asks.
    package mutating func userID(_ key: String, required: Bool = false) -> UserID? {
        guard let value = value(key, required: required) else { return nil }
        return userID(value, at: pointer(to: key))
    }

    /// A user's id, or nobody's where it is left out or `null`.
    package mutating func userIDOrNobody(_ key: String) -> UserID? {
        guard contains(key), !isNull(key) else {
            _ = value(key)
            return .nobody
        }
        return userID(key)
    }

    /// An array of users' ids; one that is wrong makes the whole array `nil`.
    package mutating func userIDs(_ key: String, required: Bool = false, maximumCount: Int) -> [UserID]? {
        ids(key, required: required, maximumCount: maximumCount) { reader, value, place in
            reader.userID(value, at: place())
        }
    }

    /// An array of ids, as of ``identifier(_:as:required:)``; one that is wrong makes the whole array `nil`.
    package mutating func identifiers<Subject>(
        _ key: String,
        as subject: Subject.Type,
        maximumCount: Int
    ) -> [Identifier<Subject>]? {
        ids(key, maximumCount: maximumCount) { reader, value, place in
            if case .string(let text) = value, let id = Identifier<Subject>(text) { return id }
            reader.errors.add(pointer: place(), detail: InputRule.identifier)
            return nil
        }
    }

    private mutating func ids<ID>(
        _ key: String,
        required: Bool = false,
        maximumCount: Int,
        _ read: (JSONObjectReader, JSONValue, _ place: () -> String) -> ID?
    ) -> [ID]? {
        guard let elements = array(key, required: required, maximumCount: maximumCount) else { return nil }
        var ids: [ID] = []
        ids.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            guard let id = read(self, element, { pointer(to: key) + JSONPointer.step(index) }) else {
                if errors.isFull { return nil }
                continue
            }
            ids.append(id)
        }
        return ids.count == elements.count ? ids : nil
    }

    func userID(_ value: JSONValue, at pointer: @autoclosure () -> String) -> UserID? {
        guard case .string(let text) = value, let id = UserID(text) else {
            errors.add(pointer: pointer(), detail: InputRule.identifier)
            return nil
        }
        guard !id.isReserved else {
            errors.add(pointer: pointer(), detail: InputRule.reserved)
            return nil
        }
        return id
    }
}

extension UserID {
    /// Whether it is `me`, which stands for the user who asks and names nobody.
    package var isReserved: Bool { rawValue == "me" }
}

/// The words for rules that are checked in several places.
enum InputRule {
    static let identifier = "must be a string of 1 to 256 bytes without control characters, not . or .."
    static let reserved = "must not be me, which is reserved"
}
