import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How many files and connections this process and its children may have.
enum Descriptors {
    /// Raises the soft limit where it is lower, as far as the hard limit allows.
    static func allow(_ count: UInt) throws {
        var limits = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        try #require(getrlimit(resource, &limits) == 0)
        guard limits.rlim_cur < rlim_t(count) else { return }
        limits.rlim_cur = min(rlim_t(count), limits.rlim_max)
        try #require(setrlimit(resource, &limits) == 0)
    }
}
