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
