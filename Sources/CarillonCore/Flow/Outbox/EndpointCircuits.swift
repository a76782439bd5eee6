/// Whether an endpoint is asked.
package enum EndpointCircuit: Sendable {
    case closed
    /// It is not, since it failed too often in a row.
    case open
    /// It is to be found out, by one question, whether it works again.
    case due
}

/// The circuits of the endpoints that are asked, which are the same for all replicas.
package protocol EndpointCircuits: Sendable {
    /// Whether an endpoint is asked at a moment.
    func circuit(of lane: Lane, at moment: Timestamp) -> EndpointCircuit
    /// It failed too often: nobody asks it for a while.
    func open(_ lane: Lane, because reason: String, at moment: Timestamp)
    /// Whether it is this replica that tries a circuit that is ``EndpointCircuit/due``; it is open again until that is found to work.
    func takeTrial(of lane: Lane) async -> Bool
    /// It was not asked when this replica was to try it: the next question may, as if this one had not come.
    func tryAgain(_ lane: Lane, at moment: Timestamp)
    /// It worked when it was tried.
    func close(_ lane: Lane, at moment: Timestamp)
}
