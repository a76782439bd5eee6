import Subprocess

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The directory a cluster lives in, and what is in it.
///
/// ```
/// lock              who owns the server
/// cluster/          PostgreSQL's own data directory
/// cluster.partial/  the same while initdb works on it; worthless if that was interrupted
/// run/              the server's socket, unless its path would be too long
/// server.log        what the server says
/// ```
struct DataDirectory: Sendable {
    /// The port number only names the socket file; nothing listens on it.
    static let port = 5432

    let path: String
    let socketDirectory: String

    var cluster: String { path + "/cluster" }
    var partialCluster: String { path + "/cluster.partial" }
    var lock: String { path + "/lock" }
    var log: ServerLog { ServerLog(path: path + "/server.log") }
    var postmasterFile: PostmasterFile? { PostmasterFile(path: cluster + "/postmaster.pid") }

    /// The socket's directory where that is not in this one.
    var temporarySocketDirectory: [String] { socketDirectory.hasPrefix(path) ? [] : [socketDirectory] }

    init(path: String) {
        self.path = FileSystem.absolute(path)
        socketDirectory = SocketDirectory.path(forDataDirectory: self.path)
    }

    /// The major version that made the cluster; nil when there is none yet.
    var clusterVersion: String? {
        FileSystem.contents(of: cluster + "/PG_VERSION", limit: 16)?.split(whereSeparator: \.isWhitespace).first
            .map(String.init)
    }

    /// Which account runs the server: this process's own, or as root the one that the cluster belongs to.
    func serverAccount(named name: String) throws(EmbeddedClusterError) -> ServerAccount {
        let owner = FileSystem.attributes(of: cluster)?.owner
        guard ServerAccount.isRoot else {
            let current = ServerAccount.current
            guard let owner, owner != current.userID else { return current }
            throw .foreignOwner(directory: cluster, owner: ServerAccount.name(of: owner), user: current.name)
        }
        if let owner, owner != 0, let account = ServerAccount.withID(owner) { return account }
        guard let account = ServerAccount.named(name) else { throw .noServerAccount(name: name) }
        return account
    }

    /// Makes the directory where there is none.
    func create(for account: ServerAccount) throws(EmbeddedClusterError) {
        if !FileSystem.exists(path) {
            try FileSystem.makeDirectories(path)
            if ServerAccount.isRoot { try FileSystem.changeOwner(of: path, to: account) }
        }
        if !ServerAccount.isRoot, !FileSystem.isUsable(path), let owner = FileSystem.attributes(of: path)?.owner {
            throw .foreignOwner(
                directory: path,
                owner: ServerAccount.name(of: owner),
                user: ServerAccount.current.name
            )
        }
        try checkThatItCanBeEntered(by: account)
    }

    func createSocketDirectory(for account: ServerAccount) throws(EmbeddedClusterError) {
        try FileSystem.makePrivateDirectory(socketDirectory)
        if ServerAccount.isRoot, FileSystem.attributes(of: socketDirectory)?.owner == 0 {
            try FileSystem.changeOwner(of: socketDirectory, to: account)
        }
        // Anybody can make a directory under /tmp and wait there for a server or its clients.
        guard let attributes = FileSystem.attributes(of: socketDirectory), attributes.isDirectory,
            attributes.owner == account.userID, attributes.permissions & 0o077 == 0
        else {
            throw .fileSystem(
                operation: "use",
                path: socketDirectory,
                reason: "it is not a private directory of \(account.name)"
            )
        }
    }

    /// Removes what a stopped server leaves outside of its own directory.
    func removeTemporarySocketDirectory() throws(EmbeddedClusterError) {
        for directory in temporarySocketDirectory { try FileSystem.remove(directory) }
    }

    /// Removes the traces of a server that is gone but whose process id is not free, be it that it was killed and nobody
    /// has asked for it yet, or that somebody else has the id now: PostgreSQL itself, which handles all other leftovers,
    /// would refuse to start.
    ///
    /// - Returns: What keeps a server from being started; `nil` when nothing does. Children of a killed one do, which takes a
    ///   moment: a second server beside them would refuse to start, or ruin the data.
    func removeMisleadingPostmasterFile() throws(EmbeddedClusterError) -> pid_t? {
        guard let file = postmasterFile, !file.isAlive else { return nil }
        if let worker = ServerProcess.worker(in: cluster) { return worker }
        guard file.isInUse else { return nil }
        try FileSystem.remove(cluster + "/postmaster.pid")
        try FileSystem.remove("\(socketDirectory)/.s.PGSQL.\(Self.port).lock")
        try FileSystem.remove("\(socketDirectory)/.s.PGSQL.\(Self.port)")
        return nil
    }

    private func checkThatItCanBeEntered(by account: ServerAccount) throws(EmbeddedClusterError) {
        guard account.userID != ServerAccount.current.userID else { return }
        var directories: [String] = []
        var current: String? = FileSystem.resolved(path)
        while let directory = current {
            directories.append(directory)
            current = FileSystem.parent(of: directory)
        }
        for directory in directories.reversed() {
            guard let attributes = FileSystem.attributes(of: directory), account.canEnter(attributes) else {
                throw .untraversable(directory: directory, dataDirectory: path, account: account.name)
            }
        }
    }

    /// Makes the cluster beside its place and moves it there when it is complete.
    ///
    /// - Throws: `notACluster`, `initializationFailed`, `fileSystem`, or what starting a process fails with.
    func initialize(with binaries: ServerBinaries, as account: ServerAccount, isDurable: Bool) async throws {
        guard FileSystem.entries(of: cluster).isEmpty else {
            throw EmbeddedClusterError.notACluster(directory: cluster)
        }
        try FileSystem.remove(partialCluster)
        try FileSystem.makePrivateDirectory(partialCluster)
        if ServerAccount.isRoot { try FileSystem.changeOwner(of: partialCluster, to: account) }
        let arguments = [
            "-D", partialCluster, "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=\(ServerSettings.locale)", "--no-instructions",
        ]
        let command = try ServerCommand(binaries.initdb, arguments + (isDurable ? [] : ["--no-sync"]), as: account)
        let result = try await run(
            .server(command.program, command.arguments),
            output: .discarded,
            error: .string(limit: 64 << 10)
        )
        guard result.terminationStatus.isSuccess else {
            throw EmbeddedClusterError.initializationFailed(output: result.standardError)
        }
        try FileSystem.remove(cluster)
        try FileSystem.move(partialCluster, to: cluster)
        try FileSystem.synchronize(directory: path)
    }
}

enum SocketDirectory {
    #if canImport(Darwin)
        private static let longestSocketPath = 103
    #else
        private static let longestSocketPath = 107
    #endif

    /// The directory for the socket: `run` in the data directory, or a short one under `/tmp` that depends only on the
    /// data directory's path when the system, or a connection string, cannot hold that.
    static func path(forDataDirectory directory: String) -> String {
        let path = directory + "/run"
        let socket = "\(path)/.s.PGSQL.\(DataDirectory.port)"
        if socket.utf8.count <= longestSocketPath, path.unicodeScalars.allSatisfy(isPlain) { return path }
        return "/tmp/carillon-" + String(fingerprint(of: directory), radix: 36)
    }

    // A comma separates hosts in a connection string and directories in PostgreSQL's settings; quotes and spaces would
    // have to be escaped differently in each.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-", "+": true
        default: false
        }
    }

    /// FNV-1a: the same in every process, which Swift's own hashes are not.
    private static func fingerprint(of text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}

/// The file the server writes its log to.
///
/// The server appends through a descriptor it got when it started, so a file that has grown too large is emptied rather
/// than replaced; its end is kept beside it.
struct ServerLog: Sendable {
    static let limit = 4 << 20

    let path: String

    /// Empties the file when it has grown too large, also where its end cannot be kept: a full disk takes no copy.
    func trim() throws(EmbeddedClusterError) {
        guard let size = FileSystem.attributes(of: path)?.size, size > Self.limit else { return }
        let end = tail(limit: 256 << 10)
        let keeping = Result { () throws(EmbeddedClusterError) in try FileSystem.write(end, to: path + ".old") }
        try FileSystem.empty(path)
        try keeping.get()
    }

    /// The end of the log, for an error message.
    func tail(limit: Int = 1024) -> String {
        FileSystem.contents(of: path, limit: limit, fromEnd: true) ?? ""
    }
}

/// The claim of one process to a data directory: who holds it starts and stops the server, everybody else only uses it.
///
/// It ends with the process, however that ends. The server does not inherit it.
struct OwnershipLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock; nil when another process holds it.
    init?(path: String) throws(EmbeddedClusterError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileSystem.failure("open", path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            let failure = FileSystem.failure("lock", path)
            close(descriptor)
            guard isHeld else { throw failure }
            return nil
        }
        self.descriptor = descriptor
    }

    deinit {
        // A child that this process is just starting holds a copy of the descriptor until it has become another program.
        // Closing alone would leave the lock with it for that long.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
