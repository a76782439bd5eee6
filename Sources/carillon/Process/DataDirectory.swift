#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The directory of the embedded cluster and of the generated secrets.
struct DataDirectory: Sendable {
    let path: String

    /// Makes the directory, and those above it, where there is none.
    ///
    /// As root it can be entered by others: PostgreSQL, which refuses to run as root, has to get through to its cluster
    /// inside. What is inside is private by itself.
    func prepare() throws(StartError) {
        let isRoot = geteuid() == 0
        for parent in parents where mkdir(parent, 0o755) != 0 && errno != EEXIST { throw failure("made", parent) }
        if mkdir(path, isRoot ? 0o711 : 0o700) != 0, errno != EEXIST { throw failure("made", path) }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw failure("used", path) }
        if isRoot, status.st_uid == 0, status.st_mode & 0o001 == 0 { chmod(path, status.st_mode & 0o7777 | 0o111) }
    }

    /// The directories above, the highest first.
    private var parents: [String] {
        path.indices.filter { path[$0] == "/" && $0 != path.startIndex }.map { String(path[..<$0]) }
    }

    private func failure(_ verb: String, _ directory: String) -> StartError {
        let reason = String(cString: strerror(errno))
        return StartError("the data directory \(directory) cannot be \(verb) (\(reason)): set CARILLON_DATA_DIR")
    }
}
