import CarillonCore
import HTTPTypes
import Metrics
import Synchronization

/// Counts what faces answered, and writes it down for the admins whose network it was.
struct FaceLog: Sendable {
    let journal: Journal?
    let metrics: FaceMetrics

    func note(_ face: any Face, answered status: HTTPResponse.Status, _ context: CarillonRequestContext) {
        let note = context.face.current
        let operation = note.operation ?? "unknown"
        metrics.answered(face.name, operation, status: status.code)
        if let network = note.networkID {
            let entry = JournalNote(
                operation: operation,
                status: status.code,
                reason: note.reason,
                eventIDs: note.eventID.map { [$0] } ?? []
            )
            journal?.record(entry, of: face.name.journalName, in: network)
        }
    }
}

extension FaceName {
    /// Where the journal has what a face answered.
    package var journalName: String { "faces/\(rawValue)" }
}

/// The metrics of faces, made once for each combination of labels, of which there is a bounded number.
final class FaceMetrics: Sendable {
    private struct Key: Hashable {
        let face: FaceName
        let operation: String
        let status: Int
    }

    private let factory: any MetricsFactory
    private let counters = Mutex<[Key: Counter]>([:])

    init(factory: any MetricsFactory) {
        self.factory = factory
    }

    func answered(_ face: FaceName, _ operation: String, status: Int) {
        let key = Key(face: face, operation: operation, status: status)
        let counter = counters.withLock { counters in
            if let counter = counters[key] { return counter }
            let counter = Counter(
                label: "carillon_face_requests_total",
                dimensions: [("face", face.rawValue), ("operation", operation), ("status", "\(status)")],
                factory: factory
            )
            counters[key] = counter
            return counter
        }
        counter.increment()
    }
}
