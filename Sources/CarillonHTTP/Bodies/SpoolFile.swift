import CarillonEdge
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A temporary file without a name: what is written first is read back from the beginning.
///
/// It is removed from its directory as soon as it exists, so that nothing of it stays, however the process ends.
final class SpoolFile: Sendable {
    /// The file system refused; the code is `errno`.
    struct Failure: Error, CustomStringConvertible {
        let code: Int32
        var description: String { "the temporary file of an import failed: \(String(cString: strerror(code)))" }
    }

    private let directory: SpoolDirectory
    private let descriptor: Int32
    private let written = Mutex(0)
    private let readOffset = Mutex(off_t(0))

    /// A new empty file.
    ///
    /// - Throws: ``Failure``, or what making the directory fails with.
    init(in directory: SpoolDirectory) throws {
        try directory.prepare()
        self.directory = directory
        var path = Array("\(directory.path)/\(SpoolDirectory.prefix)XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        unlink(path)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Appends bytes.
    /// - Throws: 413 when they are too many, 507 when there is no room for them; ``Failure`` otherwise.
    func write(_ bytes: [UInt8]) throws {
        let total = written.withLock { total in
            total += bytes.count
            return total
        }
        try directory.check(total: total, more: bytes.count)
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                let offset = off_t(total - bytes.count + start)
                return pwrite(descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start, offset)
            }
            if count >= 0 {
                start += count
            } else if errno == ENOSPC || errno == EDQUOT || errno == EFBIG {
                throw Problem.insufficientStorage
            } else if errno != EINTR {
                throw Failure(code: errno)
            }
        }
    }

    func rewind() {
        readOffset.withLock { $0 = 0 }
    }

    /// The next bytes, at most `count`; empty at the end.
    func read(upTo count: Int) throws(Failure) -> [UInt8] {
        var failure: Int32?
        let bytes = readOffset.withLock { offset in
            [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                var read = pread(descriptor, buffer.baseAddress, count, offset)
                while read < 0, errno == EINTR { read = pread(descriptor, buffer.baseAddress, count, offset) }
                if read < 0 { failure = errno }
                initialized = max(0, read)
                offset += off_t(initialized)
            }
        }
        if let failure { throw Failure(code: failure) }
        return bytes
    }
}
