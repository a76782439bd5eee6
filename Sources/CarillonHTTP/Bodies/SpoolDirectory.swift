import CarillonEdge
import Foundation

/// Where imports are kept while they arrive, and how much room they may take.
package struct SpoolDirectory: Sendable {
    static let prefix = "carillon-import-"

    /// Made when it is first used.
    package var path: String
    /// The most bytes of one import; more is answered with 413.
    package var limit: Int
    /// How many bytes of the file system are left to others, such as the database; less is answered with 507.
    package var reserve: Int

    /// A directory with the limits that the manual states.
    package init(path: String, limit: Int = 1 << 30, reserve: Int = 512 << 20) {
        self.path = path
        self.limit = limit
        self.reserve = reserve
    }

    /// Removes files that a process left which ended while it made them. Those in use have no name any more.
    package func removeLeftovers() {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for file in files where file.hasPrefix(Self.prefix) {
            try? FileManager.default.removeItem(atPath: "\(path)/\(file)")
        }
    }

    /// Makes the directory, readable by its owner only, where there is none.
    func prepare() throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    /// - Throws: 413 for an import of so many bytes, 507 when the file system has no room for so many more.
    func check(total: Int, more: Int) throws(Problem) {
        guard total <= limit else { throw .contentTooLarge(limit: limit) }
        if let free = FreeSpace.bytes(at: path), free - more < reserve { throw .insufficientStorage }
    }
}

/// What a file system has left for those who are not its administrator.
package enum FreeSpace {
    /// In bytes, of the file system that a directory is on; `nil` where there is no such directory.
    package static func bytes(at path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let (free, overflow) = Int(clamping: status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
        return overflow ? .max : free
    }
}
