#if canImport(Glibc)
    import Glibc
#else
    import Darwin
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

/// What can be seen of a process from outside.
struct ProcessTraces: Sendable {
    /// Whether it may be sent signals. An account that may not send any to a process is not its own.
    var isWithinReach: Bool
    /// Whether this machine tells of processes at all: there is no `/proc` everywhere.
    var hasProcessTable: Bool
    /// The file it runs, and where it works; `nil` where that is hidden, as from other accounts, in containers from root too.
    var program: String?
    var directory: String?
    /// How it was started, or what it says of itself in place of that; empty where that is hidden, and of the kernel's own.
    var arguments: [String]
}

extension ProcessTraces {
    /// Looks at a process that there is.
    init(of processID: pid_t) {
        // In a container root may lack the right, and PostgreSQL runs as somebody else.
        isWithinReach = ServerAccount.isRoot || kill(processID, 0) == 0
        hasProcessTable = FileSystem.exists("/proc/self")
        program = FileSystem.destination(ofLink: "/proc/\(processID)/exe")
        directory = FileSystem.destination(ofLink: "/proc/\(processID)/cwd")
        let line = FileSystem.contents(of: "/proc/\(processID)/cmdline", limit: 4096) ?? ""
        arguments = line.split(separator: "\0").map(String.init)
    }

    /// Whether it is the server of a data directory, as far as can be known.
    ///
    /// A server runs as the account that its directory belongs to, so that one that is out of reach is somebody else's: what
    /// PostgreSQL itself goes by when it finds an old file.
    func isServer(of dataDirectory: String) -> Bool {
        guard isWithinReach else { return false }
        guard hasProcessTable else { return true }
        let wanted = FileSystem.resolved(dataDirectory)
        if let directory { return FileSystem.resolved(directory) == wanted && isPostgres }
        return arguments.contains { FileSystem.resolved($0) == wanted }
    }

    /// Whether it is a server or one of its children, which name themselves like `postgres: checkpointer`. A file that an upgrade has
    /// replaced is called `postgres (deleted)`; where another kind of processor is emulated, who does that comes first.
    var isPostgres: Bool {
        let emulated = arguments.dropFirst().first.flatMap { $0.hasPrefix("/") ? $0 : nil }
        return [program, arguments.first, emulated].contains { name in
            name?.split(separator: "/").last?.prefix { $0 != " " && $0 != ":" } == "postgres"
                || name?.hasPrefix("postgres:") == true
        }
    }
}
