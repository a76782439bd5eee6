import Foundation

/// A directory for a throw-away cluster.
struct ScratchDirectory: Sendable {
    let path: String

    /// Makes a new directory that PostgreSQL's own account can get through.
    init() throws(StartError) {
        var template = Array("\(FileManager.default.temporaryDirectory.path)/carillon.XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in buffer.baseAddress.flatMap(mkdtemp) != nil }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard made else { throw StartError("cannot make a temporary directory: \(String(cString: strerror(errno)))") }
        if geteuid() == 0 { chmod(path, 0o711) }
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
