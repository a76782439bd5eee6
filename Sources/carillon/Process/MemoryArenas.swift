import CMalloc
import Foundation

/// How many arenas the allocator of glibc divides the memory into.
///
/// By default eight for each core, each of which keeps what it once needed: the resident memory of a service whose tasks
/// wander over all threads then grows for a long time although nothing of it is held (`Benchmarks/README.md`,
/// `slow-provider`). `MALLOC_ARENA_MAX` says otherwise.
enum MemoryArenas {
    /// Allows one for each core, unless the environment says how many.
    static func limit() {
        #if canImport(Glibc)
            let process = ProcessInfo.processInfo
            guard process.environment["MALLOC_ARENA_MAX"] == nil else { return }
            mallopt(M_ARENA_MAX, CInt(clamping: process.activeProcessorCount))
        #endif
    }
}
