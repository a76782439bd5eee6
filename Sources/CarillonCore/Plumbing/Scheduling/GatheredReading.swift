import Synchronization

/// Reads for many at once: what is asked for while a reading is under way is read together by the next one.
package final class GatheredReading<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Reads values; one that is not answered does not exist.
    package typealias Read = @Sendable ([Key]) async throws -> [Key: Value]

    private typealias Waiting = (keys: [Key], continuation: CheckedContinuation<[Key: Value], any Error>)

    private struct State {
        var waiting: [Waiting] = []
        var isReading = false
    }

    /// About how many are read together: of the largest bodies so many come to 16 MiB.
    private static var batchSize: Int { 64 }

    private let read: Read
    private let state = Mutex(State())

    /// What asks for many at once.
    package init(_ read: @escaping Read) {
        self.read = read
    }

    /// A value as it is when this is called or later; `nil` when there is none.
    package func value(of key: Key) async throws -> Value? { try await values(of: [key])[key] }

    /// Values as they are when this is called or later.
    package func values(of keys: [Key]) async throws -> [Key: Value] {
        try await withCheckedThrowingContinuation { continuation in
            let begins = state.withLock { state in
                state.waiting.append((keys, continuation))
                defer { state.isReading = true }
                return !state.isReading
            }
            // Unstructured on purpose: a reading is shared, and must not end with whoever began it.
            if begins { Task { await readAll() } }
        }
    }

    private func readAll() async {
        while let batch = nextBatch() {
            do {
                let values = try await read(Array(Set(batch.flatMap(\.keys))))
                for (keys, continuation) in batch {
                    // Its own and no others: whoever waits must not hold what all have asked for.
                    let own = keys.compactMap { key in values[key].map { (key, $0) } }
                    continuation.resume(returning: Dictionary(own) { first, _ in first })
                }
            } catch {
                for (_, continuation) in batch { continuation.resume(throwing: error) }
            }
        }
    }

    private func nextBatch() -> [Waiting]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isReading = false
                return nil
            }
            var keys: Set<Key> = []
            let batch = Array(
                state.waiting.prefix { waiting in
                    defer { keys.formUnion(waiting.keys) }
                    return keys.count < Self.batchSize
                }
            )
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }
}
