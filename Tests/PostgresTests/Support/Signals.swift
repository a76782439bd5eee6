#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Freezes a process.
func stop(_ processID: Int32) { kill(processID, SIGSTOP) }

/// Thaws a process.
func resume(_ processID: Int32) { kill(processID, SIGCONT) }
