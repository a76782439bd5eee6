/// Reads for many at once: what is asked for while a reading is under way is read together by the next one.
package struct GatheredReading<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Reads values; one that is not answered does not exist.
    package typealias Read = @Sendable ([Key]) async throws -> [Key: Value]

    /// About how many are read together: of the largest bodies so many come to 16 MiB.
    private static var batchSize: Int { 64 }

    private let batcher: Batcher<Bool, Key, Value?>

    package init(_ read: @escaping Read) {
        batcher = Batcher(limits: BatchLimits(itemsPerBatch: Self.batchSize, batches: 1)) { keys, _ in
            let values = try await read(Array(Set(keys)))
            return keys.map { values[$0] }
        }
    }

    /// A value as it is when this is called or later; `nil` when there is none.
    package func value(of key: Key) async throws -> Value? { try await values(of: [key])[key] }

    /// Values as they are when this is called or later.
    package func values(of keys: [Key]) async throws -> [Key: Value] {
        let values = try await batcher.submit(keys, for: true)
        return Dictionary(zip(keys, values).compactMap { key, value in value.map { (key, $0) } }) { first, _ in first }
    }
}
