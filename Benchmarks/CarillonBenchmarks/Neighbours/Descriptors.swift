#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How many files and connections this process and its children may have.
enum Descriptors {
    /// Raises the soft limit to the hard one.
    /// - Throws: ``BenchmarkFailure`` when that is too low for the connections of neighbours.
    static func allowAll() throws(BenchmarkFailure) {
        var limits = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limits) == 0 else { throw BenchmarkFailure("the limit of descriptors is unknown") }
        limits.rlim_cur = limits.rlim_max
        guard setrlimit(resource, &limits) == 0, limits.rlim_max >= 10_000 else {
            throw BenchmarkFailure("at most \(limits.rlim_max) descriptors are allowed, 10000 are needed: ulimit -Hn")
        }
    }
}
