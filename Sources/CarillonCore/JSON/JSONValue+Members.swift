/// Bodies, read leniently: what is not of the expected kind is as good as absent.
extension JSONValue {
    /// A member of an object, unless it is `null`.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let object) = self, let value = object[key], value != .null else { return nil }
        return value
    }

    /// Whether there is a member of that name, be it `null`.
    package func has(_ key: String) -> Bool {
        if case .object(let object) = self { object.contains(key) } else { false }
    }

    /// An id: a string, or a whole number as it is written.
    package var idText: String? { text ?? wholeNumber.map { String($0) } }

    package var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    package var list: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The elements of an array, or the one thing that stands for an array of one.
    package var oneOrMore: [JSONValue] { list ?? [self] }

    /// The members of an object, in their order; of an array, its elements under no name.
    package var entries: [(key: String, value: JSONValue)] {
        switch self {
        case .object(let object): object.members
        case .array(let elements): elements.map { ("", $0) }
        case .null, .bool, .number, .string: []
        }
    }
}

extension JSONValue? {
    /// The elements of an array; none where there is no array.
    package var elements: [JSONValue] { flatMap(\.list) ?? [] }

    package var isTrue: Bool { self == .bool(true) }
}
