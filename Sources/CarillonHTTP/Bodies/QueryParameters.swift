import CarillonCore
import Hummingbird

/// The parameters of a query that a route asks for; all others are passed over.
struct QueryParameters {
    private let pairs: [(name: Substring, value: Substring)]

    /// The parameters of a request.
    init(_ request: Request) {
        pairs = (request.uri.query ?? "").split(separator: "&").map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return (pair, "") }
            return (pair[..<equals], pair[pair.index(after: equals)...])
        }
    }

    /// A parameter's text; `nil` when it is absent.
    ///
    /// - Throws: `invalid-parameter` when it is there twice, or is no percent-encoded UTF-8.
    func text(_ name: String) throws(Problem) -> String? {
        let values = pairs.filter { $0.name == name }.map(\.value)
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw .invalidParameter(name, "must be given once") }
        guard let text = PercentEncoding.decode(value, plusIsSpace: true) else {
            throw .invalidParameter(name, "must be percent-encoded UTF-8")
        }
        return text
    }

    /// A parameter that is `true` or `false`; `false` when it is absent.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch try text(name) {
        case nil, "false": false
        case "true": true
        default: throw .invalidParameter(name, "must be true or false")
        }
    }

    /// A parameter that is an id of a caller's choice.
    func identifier<Subject>(_ name: String, as subject: Subject.Type) throws(Problem) -> Identifier<Subject>? {
        guard let text = try text(name) else { return nil }
        guard let identifier = Identifier<Subject>(text) else {
            let limit = Identifier<Subject>.maximumBytes
            throw .invalidParameter(name, "must be 1 to \(limit) bytes without control characters")
        }
        return identifier
    }
}
