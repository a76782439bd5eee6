/// Why a private cluster cannot run, in words that tell the operator what to do.
package enum EmbeddedClusterError: Error, Hashable, Sendable, CustomStringConvertible {
    case serverNotFound(searched: [String])
    /// The cluster was made by another major version than the one that was found.
    case versionMismatch(cluster: String, server: String)
    /// The process runs as root and there is no account to run PostgreSQL as.
    case noServerAccount(name: String)
    /// The process runs as root and there is no program to start PostgreSQL without root's rights.
    case setprivNotFound
    /// The account that runs PostgreSQL cannot get to the data directory.
    case untraversable(directory: String, dataDirectory: String, account: String)
    case foreignOwner(directory: String, owner: String, user: String)
    /// A directory is in the way that is no cluster.
    case notACluster(directory: String)
    case fileSystem(operation: String, path: String, reason: String)
    /// `initdb` failed.
    case initializationFailed(output: String)
    /// The server ended while it started.
    case startFailed(log: String)
    case startTimedOut(log: String)
    /// A process of a former server is left, or of one that somebody has started by hand.
    case occupied(directory: String, processID: Int32)

    /// What is wrong and what to do about it.
    package var description: String {
        switch self {
        case .serverNotFound(let searched):
            "PostgreSQL's server programs (postgres, initdb) were not found in \(searched.joined(separator: ", ")). "
                + "Install them (on Debian and Ubuntu: apt-get install postgresql), or give the URL of a running server"
        case .versionMismatch(let cluster, let server):
            "the data directory was made by PostgreSQL \(cluster), but the server found here is \(server). "
                + "Install PostgreSQL \(cluster) (on Debian and Ubuntu: postgresql-\(cluster)) or run pg_upgrade"
        case .noServerAccount(let name):
            "PostgreSQL refuses to run as root, and there is no account \"\(name)\" to run it as. "
                + "Create it (Debian's package postgresql does) or do not run as root"
        case .setprivNotFound:
            "PostgreSQL refuses to run as root, and setpriv, which starts it as another account, was not found. "
                + "Install it (Debian's package util-linux) or do not run as root"
        case .untraversable(let directory, let dataDirectory, let account):
            "the account \(account), which runs PostgreSQL, cannot enter \(directory) on the way to \(dataDirectory). "
                + "Run chmod o+x \(directory), or set CARILLON_DATA_DIR to a directory elsewhere"
        case .foreignOwner(let directory, let owner, let user):
            "\(directory) belongs to \(owner), and this process runs as \(user). "
                + "Run it as \(owner == "root" ? owner : "\(owner) or root"), or set CARILLON_DATA_DIR to another directory"
        case .notACluster(let directory):
            "\(directory) is not empty and no PostgreSQL cluster. Move it away, "
                + "or set CARILLON_DATA_DIR to another directory"
        case .fileSystem(let operation, let path, let reason):
            "cannot \(operation) \(path): \(reason)"
        case .initializationFailed(let output):
            "initdb failed: \(output)"
        case .startFailed(let log):
            "PostgreSQL ended while it started: \(log)"
        case .startTimedOut(let log):
            "PostgreSQL was not ready in time: \(log)"
        case .occupied(let directory, let processID):
            "process \(processID) is a PostgreSQL that works in \(directory), and a second one beside it would ruin the data. "
                + "End it (kill -QUIT \(processID)) if it does not end by itself"
        }
    }
}
