/// A program of PostgreSQL as it is started: as root behind a program that takes root's rights away first.
///
/// Subprocess could change the account itself (`PlatformOptions.userID`), but it does so in a cloned child through glibc's
/// functions, and those wait there for ever when another thread was being created at that moment. `setpriv` does it in a
/// process of its own, and is then replaced by PostgreSQL under the same process id.
/// - SeeAlso: setpriv(1)
struct ServerCommand: Hashable, Sendable {
    var program: String
    var arguments: [String]

    /// - Throws: `setprivNotFound`.
    init(_ program: String, _ arguments: [String], as account: ServerAccount) throws(EmbeddedClusterError) {
        guard account.userID != ServerAccount.current.userID else {
            self.program = program
            self.arguments = arguments
            return
        }
        guard let setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].first(where: FileSystem.isExecutable) else {
            throw .setprivNotFound
        }
        let groups = account.groups.sorted().map(String.init).joined(separator: ",")
        self.program = setpriv
        self.arguments =
            ["--reuid=\(account.userID)", "--regid=\(account.groupID)", "--groups=\(groups)", "--", program] + arguments
    }
}
