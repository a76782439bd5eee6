#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

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
