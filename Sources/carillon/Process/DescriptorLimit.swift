#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How many file descriptors the system lets this process have: files, connections and what waits for them.
enum DescriptorLimit {
    /// What the process has now, and what it could have.
    static var current: (soft: Int, hard: Int) {
        let limits = read()
        return (Int(clamping: limits.rlim_cur), Int(clamping: limits.rlim_max))
    }

    /// Raises the limit as far as the system permits without asking anybody.
    ///
    /// The usual soft limit of 1,024 is for programs that call `select(2)`; this one does not.
    static func raise() {
        var limits = read()
        limits.rlim_cur = limits.rlim_max
        #if canImport(Darwin)
            // More is refused, whatever the hard limit says.
            limits.rlim_cur = min(limits.rlim_cur, rlim_t(OPEN_MAX))
        #endif
        setrlimit(resource, &limits)
    }

    private static func read() -> rlimit {
        var limits = rlimit()
        getrlimit(resource, &limits)
        return limits
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
