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
