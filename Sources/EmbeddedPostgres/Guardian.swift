import Subprocess

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A process that ends a throw-away server when its owner ends without doing so, and removes what it leaves.
///
/// It reads from a socket whose other end only the owner has: the end of the stream is the owner's end, however that came
/// about, and a word says that there is nothing to do any more. It has a session of its own, so that what is meant for the
/// owner's terminal does not reach it.
final class Guardian: Sendable {
    /// `$1` is the server's directory, the others are removed. A process id that somebody else has by now is left alone; a
    /// server may be starting at this very moment, so it is looked for until there has been none for a while.
    private static let script = """
        read -r word && exit 0
        serves() {
            [ -d /proc/self ] || { kill -0 "$1"; return; }
            tr '\\0' '\\n' <"/proc/$1/cmdline" | grep -qxF -- "$cluster"
        }
        cluster=$1 quiet=0 tries=0
        shift
        while [ "$quiet" -lt 10 ]; do
            if read -r server <"$cluster/postmaster.pid" && serves "$server"; then
                quiet=0 tries=$((tries + 1))
                if [ "$tries" -lt 50 ]; then kill -QUIT "$server"; else kill -KILL "$server"; fi
            else
                quiet=$((quiet + 1))
            fi
            sleep 0.1
        done
        tries=0
        until rm -rf -- "$@" || [ "$tries" -ge 50 ]; do
            tries=$((tries + 1))
            sleep 0.1
        done
        """

    /// The owner's end.
    private let descriptor: Int32
    private let end: Task<Void, Never>

    private init(descriptor: Int32, end: Task<Void, Never>) {
        self.descriptor = descriptor
        self.end = end
    }

    /// Closing it without a word lets the guardian do its work.
    deinit { close(descriptor) }

    /// Starts a guardian, without which the server's end is near. The cluster is the data directory as the server is told it.
    /// - Throws: `fileSystem`, or what starting a process fails with.
    static func start(over cluster: String, removing remains: [String]) async throws -> Guardian {
        let (reader, writer) = try makePair(for: cluster)
        defer { close(reader) }
        // It outlives the caller, which is what a guardian is for; `dismiss()` joins it.
        let (processID, process) = await ServerProcess.start(
            .server("/bin/sh", ["-c", script, "carillon-guardian", cluster] + remains),
            input: .fileDescriptor(FileDescriptor(rawValue: reader), closeAfterSpawningProcess: false),
            output: .discarded
        )
        guard processID != nil else {
            close(writer)
            try await process.value
            throw FileSystem.failure("guard", cluster)
        }
        return Guardian(descriptor: writer, end: Task { _ = await process.result })
    }

    /// A pair of sockets that no child inherits: a copy of the owner's would hide the owner's end from the guardian.
    private static func makePair(for cluster: String) throws(EmbeddedClusterError) -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Darwin)
            guard socketpair(AF_UNIX, SOCK_STREAM, 0, &ends) == 0 else { throw FileSystem.failure("guard", cluster) }
            for descriptor in ends { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        #else
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw FileSystem.failure("guard", cluster) }
        #endif
        return (ends[0], ends[1])
    }

    /// Tells the guardian that the server has been stopped, and waits until it has gone.
    func dismiss() async {
        #if canImport(Darwin)
            _ = write(descriptor, "done\n", 5)
        #else
            _ = send(descriptor, "done\n", 5, Int32(MSG_NOSIGNAL))
        #endif
        await end.value
    }
}
