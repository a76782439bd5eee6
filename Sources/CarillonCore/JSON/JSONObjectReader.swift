/// Reads one object's members by name and notes every error with its pointer.
///
/// A method answers `nil` both for what is absent and for what is wrong; the difference is in the shared
/// ``InputErrors``, which the caller turns into one `InvalidInput` at the end. `null` counts as absent; ask
/// ``isNull(_:)`` where it means something. A value that is no object is one error, and reads as if it were empty.
package struct JSONObjectReader {
    /// What happens to members that nobody asks for.
    package enum UnknownMembers: Sendable {
        /// They are passed over: senders of events evolve.
        case tolerate
        /// They are errors, noted by ``finish()``: a mistyped switch must not be silently ignored.
        case refuse
    }

    static let unknownMember = "unknown member"

    /// Where the object stands in the body: a JSON Pointer (RFC 6901), empty for the body itself.
    package let pointer: String
    private let members: JSONObject?
    package let unknown: UnknownMembers
    package let errors: InputErrors
    private var asked: Set<String> = []

    /// A reader of `value`, which should be an object.
    package init(
        _ value: JSONValue,
        at pointer: String = "",
        unknown: UnknownMembers,
        into errors: InputErrors
    ) {
        self.pointer = pointer
        self.unknown = unknown
        self.errors = errors
        if case .object(let object) = value {
            members = object
        } else {
            members = nil
            errors.add(pointer: pointer, detail: "must be an object")
        }
    }

    /// Whether members that nobody asks for are passed over, as in events: what merely describes somebody is then taken as
    /// far as it can be.
    package var isTolerant: Bool { unknown == .tolerate }

    /// Whether there is a member of that name, be it `null`. Does not count as asking for it.
    package func contains(_ key: String) -> Bool { members?.contains(key) ?? false }

    /// Whether the member is there and `null`. Does not count as asking for it.
    package func isNull(_ key: String) -> Bool { members?[key] == .some(.null) }

    /// The names of all members, for objects that are maps.
    package var keys: [String] { members?.keys ?? [] }

    /// The pointer of a member, for errors that only the caller can find.
    package func pointer(to key: String) -> String { pointer + JSONPointer.step(key) }

    /// Notes an error at a member.
    package func refuse(_ key: String, _ detail: String) {
        errors.add(pointer: pointer(to: key), detail: detail)
    }

    package func refuse(_ key: String, at index: Int, _ detail: String) {
        errors.add(pointer: pointer(to: key) + JSONPointer.step(index), detail: detail)
    }

    /// Notes an error at each of these members that is `null`, for members that may be left out but not be emptied.
    package func refuseNulls(_ keys: String...) {
        for key in keys where isNull(key) { refuse(key, "must not be null") }
    }

    /// Any value but `null`.
    package mutating func value(_ key: String, required: Bool = false) -> JSONValue? {
        if unknown == .refuse { asked.insert(key) }
        guard let members else { return nil }
        guard let value = members[key], value != .null else {
            if required { refuse(key, "is required") }
            return nil
        }
        return value
    }

    /// A string of at most `maximumBytes` bytes of UTF-8.
    package mutating func string(
        _ key: String,
        required: Bool = false,
        maximumBytes: Int = 1024,
        nonEmpty: Bool = false
    ) -> String? {
        guard let value = value(key, required: required) else { return nil }
        guard case .string(let text) = value else {
            refuse(key, "must be a string")
            return nil
        }
        if nonEmpty && text.isEmpty {
            refuse(key, "must not be empty")
            return nil
        }
        if text.utf8.count > maximumBytes {
            refuse(key, "must be at most \(maximumBytes) bytes of UTF-8")
            return nil
        }
        return text
    }

    package mutating func bool(_ key: String, required: Bool = false) -> Bool? {
        guard let value = value(key, required: required) else { return nil }
        guard case .bool(let bool) = value else {
            refuse(key, "must be true or false")
            return nil
        }
        return bool
    }

    /// A whole number within bounds; `10`, `10.0` and `1e1` are the same.
    package mutating func integer(_ key: String, required: Bool = false, in range: ClosedRange<Int>) -> Int? {
        guard let value = value(key, required: required) else { return nil }
        guard case .number(let number) = value, let integer = number.integer, range.contains(integer) else {
            refuse(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return integer
    }

    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        as type: Choice.Type,
        required: Bool = false
    ) -> Choice? {
        guard let value = value(key, required: required) else { return nil }
        guard case .string(let text) = value, let choice = Choice(rawValue: text) else {
            refuse(key, "must be one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
            return nil
        }
        return choice
    }

    /// The reader of a member that is an object itself; treats unknown members as this one does unless told otherwise.
    package mutating func object(
        _ key: String,
        required: Bool = false,
        unknown: UnknownMembers? = nil
    ) -> JSONObjectReader? {
        guard let value = value(key, required: required) else { return nil }
        guard case .object = value else {
            refuse(key, "must be an object")
            return nil
        }
        return JSONObjectReader(value, at: pointer(to: key), unknown: unknown ?? self.unknown, into: errors)
    }

    /// The reader of an element of an array, which should be an object.
    package func reader(of element: JSONValue, in key: String, at index: Int) -> JSONObjectReader {
        JSONObjectReader(element, at: pointer(to: key) + JSONPointer.step(index), unknown: unknown, into: errors)
    }

    package mutating func array(_ key: String, required: Bool = false, maximumCount: Int) -> [JSONValue]? {
        guard let value = value(key, required: required) else { return nil }
        guard case .array(let elements) = value else {
            refuse(key, "must be an array")
            return nil
        }
        if elements.count > maximumCount {
            refuse(key, "must have at most \(maximumCount) elements")
            return nil
        }
        return elements
    }

    /// An array of strings; one that is wrong makes the whole array `nil`.
    package mutating func strings(
        _ key: String,
        required: Bool = false,
        maximumCount: Int,
        maximumBytes: Int = 1024
    ) -> [String]? {
        guard let elements = array(key, required: required, maximumCount: maximumCount) else { return nil }
        var strings: [String] = []
        strings.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element, text.utf8.count <= maximumBytes else {
                let limit = maximumBytes == .max ? "" : " of at most \(maximumBytes) bytes of UTF-8"
                refuse(key, at: index, "must be a string\(limit)")
                continue
            }
            strings.append(text)
        }
        return strings.count == elements.count ? strings : nil
    }

    /// Notes every member that was never asked for, when unknown members are refused. To be called last.
    package func finish() {
        guard unknown == .refuse, let members else { return }
        for (key, _) in members.members where !asked.contains(key) {
            if errors.isFull { return }
            refuse(key, Self.unknownMember)
        }
    }
}
