#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The system calls a cluster's directories need, with errors that name the path.
enum FileSystem {
    /// What `lstat` tells about a file.
    struct Attributes {
        var owner: uid_t
        var group: gid_t
        var permissions: mode_t
        var isDirectory: Bool
        var size: Int
    }

    static func attributes(of path: String) -> Attributes? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return Attributes(
            owner: status.st_uid,
            group: status.st_gid,
            permissions: status.st_mode & 0o7777,
            isDirectory: status.st_mode & S_IFMT == S_IFDIR,
            size: Int(status.st_size)
        )
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether this process may use a directory: enter it and make files in it.
    static func isUsable(_ directory: String) -> Bool { access(directory, W_OK | X_OK) == 0 }

    static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

    /// Makes a directory that only its owner can enter; one that exists is left as it is.
    static func makePrivateDirectory(_ path: String) throws(EmbeddedClusterError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure("create", path) }
    }

    static func makeDirectories(_ path: String) throws(EmbeddedClusterError) {
        var parents: [String] = []
        var current = path
        while !exists(current), let parent = parent(of: current) {
            parents.append(current)
            current = parent
        }
        for directory in parents.reversed() {
            if mkdir(directory, directory == path ? 0o700 : 0o755) != 0, errno != EEXIST {
                throw failure("create", directory)
            }
        }
    }

    static func changeOwner(of path: String, to account: ServerAccount) throws(EmbeddedClusterError) {
        if lchown(path, account.userID, account.groupID) != 0 { throw failure("change the owner of", path) }
    }

    static func move(_ source: String, to destination: String) throws(EmbeddedClusterError) {
        if rename(source, destination) != 0 { throw failure("rename", source) }
    }

    /// Makes what was created, renamed or removed in a directory survive a power cut.
    static func synchronize(directory: String) throws(EmbeddedClusterError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", directory) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw failure("synchronise", directory) }
    }

    /// Removes a file, or a directory with all that it holds; one that is gone already is no error.
    static func remove(_ path: String) throws(EmbeddedClusterError) {
        guard attributes(of: path) != nil else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw .fileSystem(operation: "remove", path: path, reason: "\(error)")
        }
    }

    static func entries(of directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    /// The first bytes of a file, or the last; nil when it cannot be read.
    static func contents(of path: String, limit: Int, fromEnd: Bool = false) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Seeking before the start of a shorter file fails and leaves the position where it is: at the start.
        if fromEnd { lseek(descriptor, -off_t(limit), SEEK_END) }
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, limit))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Replaces a file's contents.
    static func write(_ text: String, to path: String) throws(EmbeddedClusterError) {
        do {
            try Data(text.utf8).write(to: URL(filePath: path))
        } catch {
            throw .fileSystem(operation: "write", path: path, reason: "\(error)")
        }
    }

    /// Empties a file without replacing it.
    static func empty(_ path: String) throws(EmbeddedClusterError) {
        if truncate(path, 0) != 0 { throw failure("empty", path) }
    }

    /// Opens a file for appending, for this account only; the caller closes it.
    static func openForAppending(_ path: String) throws(EmbeddedClusterError) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open", path) }
        return descriptor
    }

    /// The path without symbolic links; as it is when it does not exist.
    static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// What a symbolic link points to; nil when that cannot be known.
    static func destination(ofLink path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    }

    /// The path from the root, without `.` and `..`, whether it exists or not.
    static func absolute(_ path: String) -> String {
        var components: [Substring] = []
        let full = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        for component in full.split(separator: "/") where component != "." {
            if component == ".." { _ = components.popLast() } else { components.append(component) }
        }
        return "/" + components.joined(separator: "/")
    }

    static func parent(of path: String) -> String? {
        guard path != "/", let slash = path.lastIndex(of: "/") else { return nil }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func failure(_ operation: String, _ path: String) -> EmbeddedClusterError {
        .fileSystem(operation: operation, path: path, reason: String(cString: strerror(errno)))
    }
}
