package import CarillonCore
package import HTTPTypes
package import Metrics
import Synchronization

/// Counts what faces answered, and writes it down for the admins whose network it was. Counters are made once for each combination of
/// labels, of which there is a bounded number.
package final class FaceLog: Sendable {
    private struct Key: Hashable {
        let face: FaceName
        let operation: String
        let status: Int
    }

    private let journal: Journal?
    private let factory: any MetricsFactory
    private let counters = Mutex<[Key: Counter]>([:])

    package init(journal: Journal?, metrics: any MetricsFactory) {
        self.journal = journal
        factory = metrics
    }

    func note(_ face: any Face, answered status: HTTPResponse.Status, _ context: CarillonRequestContext) {
        let info = context.face.current
        note(
            face.name,
            info.operation ?? "unknown",
            answered: status,
            in: info.networkID,
            info.eventID,
            because: info.reason
        )
    }

    package func note(
        _ face: FaceName,
        _ operation: String,
        answered status: HTTPResponse.Status,
        in network: NetworkID?,
        _ event: EventID?,
        because reason: String? = nil
    ) {
        counter(of: Key(face: face, operation: operation, status: status.code)).increment()
        guard let network else { return }
        let entry = JournalNote(
            operation: operation,
            status: status.code,
            reason: reason,
            eventIDs: event.map { [$0] } ?? []
        )
        journal?.record(entry, of: face.journalName, in: network)
    }

    private func counter(of key: Key) -> Counter {
        counters.withLock { counters in
            if let counter = counters[key] { return counter }
            let counter = Counter(
                label: "carillon_face_requests_total",
                dimensions: [("face", key.face.rawValue), ("operation", key.operation), ("status", "\(key.status)")],
                factory: factory
            )
            counters[key] = counter
            return counter
        }
    }
}

extension FaceName {
    /// Where the journal has what a face answered.
    package var journalName: String { "faces/\(rawValue)" }
}
