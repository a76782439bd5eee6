package import CarillonCore

/// The problems of endpoints.
extension Problem {
    /// Why an endpoint is not stored.
    package init(_ refusal: EndpointRefusal) {
        self =
            switch refusal {
            case .tooMany:
                .conflict("limit-reached", "a network has at most \(Endpoint.maximumCount) endpoints: remove one first")
            case .interception(let type, let other):
                .conflict(
                    "interception-conflict",
                    "endpoint \(other) is asked about \(type) already, and at most one may be"
                )
            }
    }
}
