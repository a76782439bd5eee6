#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// The file that the `log` provider writes to: a line for each notification of each device.
struct NotificationFile: Sendable {
    /// Where it is.
    let path: String

    /// Opens a new file to write to.
    func create() throws -> FileDescriptor { try FileDescriptor.newFile(at: path) }

    /// Checks how many lines there are.
    /// - Throws: ``BenchmarkFailure`` when it is another number.
    func verify(lineCount expected: Int) throws {
        let count = try lineCount
        guard count == expected else { throw BenchmarkFailure("\(count) of \(expected) notifications were written") }
    }

    /// How many whole lines it holds.
    private var lineCount: Int {
        get throws {
            let file = try FileDescriptor.open(path, .readOnly)
            return try file.closeAfter {
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                var lines = 0
                while true {
                    let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
                    guard count > 0 else { return lines }
                    for byte in buffer[..<count] where byte == UInt8(ascii: "\n") { lines += 1 }
                }
            }
        }
    }
}

extension FileDescriptor {
    /// Opens a new file to write to.
    static func newFile(at path: String) throws -> FileDescriptor {
        let options: OpenOptions = [.create, .append, .exclusiveCreate]
        return try FileDescriptor.open(path, .writeOnly, options: options, permissions: .ownerReadWrite)
    }
}
