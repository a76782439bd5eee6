import Synchronization

@testable import CarillonCore

/// Circuits that are as a test says, and change by themselves only when they are opened and closed.
final class StubCircuits: EndpointCircuits {
    private let state = Mutex<(circuit: EndpointCircuit, isOurs: Bool, changes: [String])>((.closed, true, []))

    /// What the circuit is now.
    var circuit: EndpointCircuit {
        get { state.withLock(\.circuit) }
        set { state.withLock { $0.circuit = newValue } }
    }

    /// Whether it is this replica that tries.
    func mayTry(_ isOurs: Bool) { state.withLock { $0.isOurs = isOurs } }

    /// What was done to it.
    var changes: [String] { state.withLock(\.changes) }

    func circuit(of lane: Lane, at moment: Timestamp) -> EndpointCircuit { circuit }

    func open(_ lane: Lane, because reason: String, at moment: Timestamp) {
        state.withLock { state in
            state.circuit = .open
            state.changes.append("\(lane) opened: \(reason)")
        }
    }

    func takeTrial(of lane: Lane) async -> Bool {
        state.withLock { state in
            state.circuit = .open
            state.changes.append("\(lane) tried")
            return state.isOurs
        }
    }

    func close(_ lane: Lane, at moment: Timestamp) {
        state.withLock { state in
            state.circuit = .closed
            state.changes.append("\(lane) closed")
        }
    }
}
