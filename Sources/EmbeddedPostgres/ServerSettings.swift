enum ServerSettings {
    #if canImport(Darwin)
        static let locale = "C"
    #else
        static let locale = "C.UTF-8"
    #endif

    /// The server's arguments; `overrides` win over the settings chosen here.
    static func arguments(for directory: DataDirectory, overrides: [String: String]) -> [String] {
        var settings = [
            // Reachable through a socket in a private directory only; this is why connections need no password.
            "listen_addresses": "",
            "port": String(DataDirectory.port),
            "unix_socket_directories": directory.socketDirectory,
            "unix_socket_permissions": "0700",
            "max_connections": "100",
            "fsync": "on",
            "synchronous_commit": "on",
            // An upgrade of the package replaces the files under a running server, which cannot load those of another build
            // any more. What sessions use is loaded at the start for all of them, and what else they would load is not used.
            "shared_preload_libraries": "plpgsql",
            "jit": "off",
            // Errors go to the client that caused them. In a log they would quote its values.
            "log_min_messages": "log",
            "log_min_error_statement": "panic",
            "log_statement": "none",
            "logging_collector": "off",
        ]
        settings.merge(overrides) { _, override in override }
        return ["-D", directory.cluster]
            + settings.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
    }
}
