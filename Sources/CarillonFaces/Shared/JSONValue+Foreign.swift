import CarillonCore
import CarillonEdge
import HTTPTypes

extension JSONValue {
    /// Reads a body of somebody else's by its members: what is not known is passed over, since foreign clients evolve; what is of
    /// the wrong type is an error.
    func readForeign<Value>(_ read: (inout JSONObjectReader) -> Value?) throws(InvalidInput) -> Value {
        try self.read(as: "invalid-body", unknown: .tolerate, read)
    }
}

extension Problem {
    /// What HTTP itself has to say of it, in whatever envelope.
    var headersOfProtocol: HTTPFields {
        var headers = HTTPFields()
        for name in [HTTPField.Name.retryAfter, .wwwAuthenticate, .allow, .connection] {
            headers[name] = self.headers[name]
        }
        return headers
    }

    /// What is wrong with a request, where it has no one place.
    static func invalidBody(_ detail: String) -> Problem {
        Problem(InvalidInput(problem: "invalid-body", pointer: "", detail: detail))
    }
}
