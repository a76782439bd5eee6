#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
