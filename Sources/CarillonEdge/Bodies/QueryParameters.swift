package import CarillonCore
package import Hummingbird

/// The parameters of a query. Those that a route does not ask for are passed over, unless it says which ones there are.
package struct QueryParameters {
    private let pairs: [(name: Substring, value: Substring)]

    package init(_ request: Request) {
        pairs = (request.uri.query ?? "").split(separator: "&").map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return (pair, "") }
            return (pair[..<equals], pair[pair.index(after: equals)...])
        }
    }

    /// The names as they were sent.
    package var names: [String] { pairs.map { String($0.name) } }

    /// Refuses all parameters but these, and those of pages where there are any.
    package func refuseAll(but names: String..., isPaged: Bool = true) throws(Problem) {
        let names = names.map { $0[...] } + (isPaged ? Page.parameters : [])
        let unknown = pairs.first { !names.contains($0.name) }
        guard let unknown else { return }
        throw .invalidParameter(
            (PercentEncoding.decode(unknown.name) ?? "").shortened(toCharacters: 100, bytes: 400),
            "is no parameter that is known here"
        )
    }

    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        of type: Choice.Type
    ) throws(Problem) -> Choice? {
        try text(name).map { text throws(Problem) in try Self.choice(text, name, "must be one of") }
    }

    /// A parameter that names some of several, with commas between them.
    package func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable>(
        _ name: String,
        of type: Choice.Type
    ) throws(Problem) -> Set<Choice>? {
        guard let text = try text(name) else { return nil }
        var choices: Set<Choice> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            choices.insert(try Self.choice(String(part), name, "must name, with commas between them, some of"))
        }
        return choices
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String,
        _ name: String,
        _ demand: String
    ) throws(Problem) -> Choice {
        guard let choice = Choice.allCases.first(where: { $0.rawValue == text }) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidParameter(name, "\(demand) \(choices)")
        }
        return choice
    }

    package func timestamp(_ name: String) throws(Problem) -> Timestamp? {
        guard let text = try text(name) else { return nil }
        // The plus sign of an offset means a space, unless it is encoded; a moment has no other.
        guard let timestamp = Timestamp(rfc3339: text.replacing(" ", with: "+")) else {
            throw .invalidParameter(name, "must be a time of RFC 3339")
        }
        return timestamp
    }

    /// All parameters, decoded.
    ///
    /// - Throws: `invalid-parameter` when one is no percent-encoded UTF-8.
    package func all() throws(Problem) -> [(name: String, value: String)] {
        try pairs.map { pair throws(Problem) in
            guard let name = PercentEncoding.decode(pair.name, plusIsSpace: true),
                let value = PercentEncoding.decode(pair.value, plusIsSpace: true)
            else { throw .invalidParameter("query", "must be percent-encoded UTF-8") }
            return (name, value)
        }
    }

    /// A parameter's text; `nil` when it is absent.
    ///
    /// - Throws: `invalid-parameter` when it is there twice, or is no percent-encoded UTF-8.
    package func text(_ name: String) throws(Problem) -> String? {
        let values = pairs.filter { $0.name == name }.map(\.value)
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw .invalidParameter(name, "must be given once") }
        guard let text = PercentEncoding.decode(value, plusIsSpace: true) else {
            throw .invalidParameter(name, "must be percent-encoded UTF-8")
        }
        return text
    }

    /// A parameter that is `true` or `false`; `false` when it is absent.
    package func flag(_ name: String) throws(Problem) -> Bool {
        switch try text(name) {
        case nil, "false": false
        case "true": true
        default: throw .invalidParameter(name, "must be true or false")
        }
    }

    /// A parameter that is an id of a caller's choice.
    package func identifier<Subject>(_ name: String, as subject: Subject.Type) throws(Problem) -> Identifier<Subject>? {
        guard let text = try text(name) else { return nil }
        guard let identifier = Identifier<Subject>(text) else {
            let limit = Identifier<Subject>.maximumBytes
            throw .invalidParameter(name, "must be 1 to \(limit) bytes without control characters")
        }
        return identifier
    }
}
