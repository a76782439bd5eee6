import EmbeddedPostgres

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Settings {
    /// Makes the directory of the embedded cluster and of the generated secrets, and those above it, where there is none.
    ///
    /// As root it can be entered by others: PostgreSQL, which refuses to run as root, has to get through to its cluster
    /// inside. What is inside is private by itself.
    func makeDataDirectory() throws(ConfigurationError) {
        let path = dataDirectory
        let isRoot = geteuid() == 0
        for end in path.indices where path[end] == "/" && end != path.startIndex {
            let parent = String(path[..<end])
            if mkdir(parent, 0o755) != 0, errno != EEXIST { throw .dataDirectory(parent, "made") }
        }
        if mkdir(path, isRoot ? 0o711 : 0o700) != 0, errno != EEXIST { throw .dataDirectory(path, "made") }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw .dataDirectory(path, "used") }
        if isRoot, status.st_uid == 0, status.st_mode & 0o001 == 0 { chmod(path, status.st_mode & 0o7777 | 0o111) }
    }
}

extension ConfigurationError {
    /// What is wrong with the data directory, where that is why there is no embedded cluster.
    init?(_ error: any Error) {
        switch error as? EmbeddedClusterError {
        case .notACluster, .foreignOwner, .untraversable: self.init(mistakes: ["\(error)"])
        default: return nil
        }
    }

    fileprivate static func dataDirectory(_ path: String, _ verb: String) -> ConfigurationError {
        let reason = String(cString: strerror(errno))
        return ConfigurationError(
            mistakes: ["the data directory \(path) cannot be \(verb) (\(reason)): set \(Setting.dataDir.variable)"]
        )
    }
}
