import CarillonTesting
import Testing

@testable import EmbeddedPostgres

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Leaves the traces of a server that had this process id.
func leave(_ processID: pid_t, as directory: DataDirectory, state: String = "ready   ") throws {
    let file = directory.cluster + "/postmaster.pid"
    try FileSystem.write(
        "\(processID)\n\(directory.cluster)\n1\n5432\n\(directory.socketDirectory)\n\n1 1\n\(state)\n",
        to: file
    )
    if ServerAccount.isRoot {
        try FileSystem.changeOwner(of: file, to: try directory.serverAccount(named: "postgres"))
    }
}

/// Starts a process that does nothing until it is ended, in a directory and under a name of one's choice.
func startSleeper(in directory: String = "/", as name: String = "sleep") async throws -> pid_t {
    let script = #"cd "$1" && exec -a "$2" sleep 600"#
    let processID = try spawn("/bin/bash", ["bash", "-c", script, "bash", directory, name])
    try await eventually("it sleeps") {
        FileSystem.contents(of: "/proc/\(processID)/cmdline", limit: 1024).map { $0.hasPrefix("\(name)\0600") } ?? true
    }
    return processID
}

func spawn(_ program: String, _ arguments: [String]) throws -> pid_t {
    var processID: pid_t = 0
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    try #require(posix_spawn(&processID, program, nil, nil, &pointers, nil) == 0)
    return processID
}

/// Ends a process that was started here.
func end(_ processID: pid_t) {
    kill(processID, SIGKILL)
    waitpid(processID, nil, 0)
}
