import Foundation

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
