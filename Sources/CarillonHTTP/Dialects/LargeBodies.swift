import CarillonCore
import CarillonEdge
import Synchronization

/// Who may have a body in memory that is larger than those of events are as a rule: one of each network at a time, and few in all.
final class LargeBodies: Sendable {
    static let atOnce = 3

    private let networks = Mutex<Set<NetworkID>>([])

    /// Takes a place for a network's body.
    ///
    /// - Throws: 503 when there is none: senders of such bodies try again.
    func enter(_ network: NetworkID) throws(Problem) {
        let hasEntered = networks.withLock { networks in
            networks.count < Self.atOnce && networks.insert(network).inserted
        }
        guard hasEntered else { throw .serviceUnavailable("other large bodies are being read") }
    }

    func leave(_ network: NetworkID) {
        _ = networks.withLock { $0.remove(network) }
    }
}
