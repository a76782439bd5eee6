import NIOCore
import Synchronization

/// When the notifications of an innocent network's events arrived.
final class ArrivalLog: Sendable {
    private struct Entry {
        var count = 0
        var last = NIODeadline.uptimeNanoseconds(0)
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// Notes a notification.
    func note(_ arrival: Arrival) {
        guard let event = arrival.eventID else { return }
        entries.withLock { entries in
            var entry = entries[event] ?? Entry()
            entry.count += 1
            entry.last = max(entry.last, arrival.at)
            entries[event] = entry
        }
    }

    /// When the last of so many notifications of an event arrived; `nil` while some are missing.
    func completion(of event: String, notifications: Int) -> NIODeadline? {
        entries.withLock { entries in
            guard let entry = entries[event], entry.count >= notifications else { return nil }
            return entry.last
        }
    }

    /// Lends a pipe for a service's standard output, and notes the lines for the innocent network's devices.
    func withLogLines<Value: Sendable>(_ body: (OutputPipe) async throws -> Value) async throws -> Value {
        let arrivals = Arrivals()
        let reader = Task {
            for await line in arrivals.stream { note(line) }
        }
        defer { reader.cancel() }
        return try await LogReceiver.withReceiver(of: arrivals, beginning: Self.ownLines, body)
    }

    // Others' lines are dropped at once: there may be very many.
    private static let ownLines = Array(#"{"deviceId":"\#(Innocent.prefix)"#.utf8)
}
