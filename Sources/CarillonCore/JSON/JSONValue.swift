/// A JSON value (RFC 8259) in memory: the form in which bodies are read, changed and written.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number, as it was written.
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue {
    /// A text, or `null`.
    package init(_ text: String?) {
        self = text.map(JSONValue.string) ?? .null
    }

    /// A whole number, or `null`.
    package init(_ number: Int?) {
        self = number.map { .number(JSONNumber($0)) } ?? .null
    }

    package init(_ texts: some Sequence<String>) {
        self = .array(texts.map(JSONValue.string))
    }

    /// The text; `nil` for what is none.
    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number; `nil` for what is no whole one.
    package var wholeNumber: Int? {
        if case .number(let number) = self { number.integer } else { nil }
    }
}

extension JSONValue: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
}

extension JSONValue: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// An object with its members in the order in which they are written, without those that are `nil`; the last one of a name wins.
    package init(dictionaryLiteral elements: (String, JSONValue?)...) {
        self = .object(JSONObject(elements))
    }
}
