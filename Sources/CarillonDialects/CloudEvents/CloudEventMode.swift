/// How a request carries its events, as its type and its headers tell.
enum CloudEventMode: Equatable {
    /// The body is the data, be it JSON or not, and the headers are the rest.
    case binary(isJSON: Bool)
    /// The body is an event, or an array of them; `nil` where the type does not say which.
    case json(isBatch: Bool?)

    init(_ request: DialectRequest) throws(DialectRefusal) {
        let header = request.values("content-type").first ?? ""
        let type = header.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        if type.hasPrefix("application/cloudevents") {
            // The longer name first: one begins like the other.
            let isBatch = type.hasPrefix("application/cloudevents-batch")
            guard type == "application/cloudevents\(isBatch ? "-batch" : "")+json" else {
                throw .unsupportedType("events must be JSON")
            }
            self = .json(isBatch: isBatch)
            return
        }
        let isJSON = type.isEmpty || type == "application/json" || type.hasSuffix("+json")
        guard request.values("ce-specversion").isEmpty else {
            self = .binary(isJSON: isJSON)
            return
        }
        guard isJSON else { throw .unsupportedType("events must be JSON") }
        self = .json(isBatch: nil)
    }
}
