import CarillonCore
import NIOCore
import Synchronization

/// Checks an import line by line while it arrives, keeps it in a file, and gives it back in batches.
///
/// Nothing may be imported before the last line is known to be good, and no size of import may fill the memory.
final class ImportSpool: Sendable {
    private static let batchCount = 1000
    private static let chunkBytes = 128 * 1024

    private struct Reader {
        var splitter = LineSplitter()
        var ended = false
    }

    private let directory: SpoolDirectory
    private let file: SpoolFile
    private let devices: DeviceReader
    private let reader = Mutex(Reader())

    /// An empty spool.
    /// - Throws: ``SpoolFile/Failure`` when it cannot be made.
    init(in directory: SpoolDirectory, devices: DeviceReader) throws {
        self.directory = directory
        file = try SpoolFile(in: directory)
        self.devices = devices
    }

    /// Takes a whole import.
    ///
    /// - Returns: How many lines of each kind there are.
    /// - Throws: `invalid-import` with the first bad line; 413 and 507 when there is no room for it.
    func fill(_ parts: ((ByteBuffer) throws -> Void) async throws -> Void) async throws -> ImportTally {
        var splitter = LineSplitter()
        var tally = ImportTally()
        var checked: [UInt8] = []
        var next = 1
        var arrived = 0
        func check(_ line: [UInt8], _ number: Int) throws {
            tally.count(try ImportLine.record(line, number: number, devices: devices))
            // Empty lines stay, so that numbers do.
            while next < number { try end([]) }
            try end(line)
        }
        func end(_ line: [UInt8]) throws {
            next += 1
            checked.append(contentsOf: line)
            checked.append(UInt8(ascii: "\n"))
            if checked.count >= Self.chunkBytes { try flush() }
        }
        func flush() throws {
            try file.write(checked)
            checked.removeAll(keepingCapacity: true)
        }
        try await parts { part in
            // Lines without content are in no file until another one follows.
            arrived += part.readableBytes
            try directory.check(total: arrived, more: 0)
            try part.withUnsafeReadableBytes { bytes in try splitter.take(bytes, check) }
        }
        try splitter.finish(check)
        try flush()
        return tally
    }

    /// Refuses subscriptions of devices that neither the directory has nor an earlier line; everything can be read from the
    /// beginning afterwards.
    ///
    /// A bad line may be taken for a good one, once in 100,000 times: it is passed over when it is applied.
    ///
    /// - Parameters:
    ///   - count: How many devices the import has.
    ///   - known: Which of some devices the directory has.
    /// - Throws: `invalid-import` with the first bad line.
    func checkSubscriptions(
        devices count: Int,
        _ known: (Set<DeviceID>) async throws -> Set<DeviceID>
    ) async throws {
        var earlier = BloomFilter(capacity: count)
        while let batch = try nextLines() {
            var unknown: [DeviceID: Int] = [:]
            for (record, number) in batch {
                switch record {
                case .device(let device): earlier.insert(device.id)
                case .subscription(.device(let id), _):
                    if !earlier.contains(id), unknown[id] == nil { unknown[id] = number }
                default: break
                }
            }
            let missing = Set(unknown.keys).subtracting(try await known(Set(unknown.keys)))
            guard let first = missing.compactMap({ unknown[$0] }).min() else { continue }
            throw ImportLine.failure(first, pointer: "/subscription/deviceId", "names no device")
        }
        file.rewind()
        reader.withLock { $0 = Reader() }
    }

    /// The next records, at least ``batchCount`` but for the last ones; `nil` at the end.
    func nextBatch() throws -> [ImportRecord]? {
        try nextLines()?.map(\.record)
    }

    private func nextLines() throws -> [(record: ImportRecord, number: Int)]? {
        try reader.withLock { reader in
            var batch: [(record: ImportRecord, number: Int)] = []
            while !reader.ended, batch.count < Self.batchCount {
                let bytes = try file.read(upTo: Self.chunkBytes)
                reader.ended = bytes.isEmpty
                try bytes.withUnsafeBytes { bytes in
                    try reader.splitter.take(bytes) { line, number in
                        batch.append((try ImportLine.record(line, number: number, devices: devices), number))
                    }
                }
            }
            return batch.isEmpty ? nil : batch
        }
    }
}
