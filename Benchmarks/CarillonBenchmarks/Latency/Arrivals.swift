import CarillonCore
import NIOCore

/// A notification that reached its receiver.
struct Arrival: Sendable {
    /// When its last byte was read.
    let at: NIODeadline
    /// What it was: a JSON object.
    let bytes: ByteBuffer

    /// What it was, parsed.
    var json: JSONValue {
        get throws { try JSONValue(parsing: Array(bytes.readableBytesView)) }
    }

    /// The event that it tells of; `nil` when it names none.
    var eventID: String? {
        guard let json = try? json else { return nil }
        // A webhook has it in `data`, a log line at the top.
        return (json["data"]?.object ?? json.object)?["eventId"]?.text
    }
}

/// Notifications in the order in which they arrive.
struct Arrivals: Sendable {
    /// Takes them.
    let continuation: AsyncStream<Arrival>.Continuation
    /// Gives them out, to one reader.
    let stream: AsyncStream<Arrival>

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }
}
