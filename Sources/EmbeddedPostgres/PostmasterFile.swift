#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What a server writes into `postmaster.pid` about itself.
///
/// - SeeAlso: PostgreSQL source, src/include/utils/pidfile.h
package struct PostmasterFile: Hashable, Sendable {
    package var processID: Int32
    var dataDirectory: String
    /// Nil until the server has got that far.
    var socketDirectory: String?
    var isReady: Bool
    /// Whether it is on its way to that, which takes as long as there is to recover after a crash.
    var isStarting: Bool

    init?(parsing text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 2, let processID = pid_t(lines[0]), processID > 0 else { return nil }
        self.processID = processID
        dataDirectory = String(lines[1])
        socketDirectory = lines.count > 4 && !lines[4].isEmpty ? String(lines[4]) : nil
        let state = lines.count > 7 ? lines[7] : ""
        isReady = state.hasPrefix("ready")
        isStarting = state.hasPrefix("starting")
    }

    /// What the file at a path says; `nil` when there is none, or it is not one.
    package init?(path: String) {
        guard let text = FileSystem.contents(of: path, limit: 4096) else { return nil }
        self.init(parsing: text)
    }

    /// Whether the server that wrote the file still runs.
    ///
    /// Process ids are used again, after a reboot almost surely, so a process of this id alone proves nothing; but a
    /// server works in its data directory. One that was killed keeps its id until its parent asks for it.
    var isAlive: Bool { ServerProcess.serves(processID, dataDirectory) }

    /// Whether there is a process of the server's id at all.
    var isInUse: Bool { ServerProcess.exists(processID) }
}
