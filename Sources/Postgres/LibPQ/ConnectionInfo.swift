import CLibPQ

/// A connection string, taken apart by libpq.
///
/// Both forms that libpq knows are understood: `postgresql://…` and `key=value` pairs, each with several hosts.
struct ConnectionInfo: Sendable {
    /// What the string says, by libpq's keyword.
    private(set) var values: [String: String]

    /// - Throws: `invalidConfiguration`, without libpq's words: they can quote a part of the password.
    init(parsing string: String) throws(PostgresError) {
        var message: UnsafeMutablePointer<CChar>?
        guard !string.utf8.contains(0), let options = PQconninfoParse(string, &message) else {
            PQfreemem(message)
            throw PostgresError(
                .invalidConfiguration,
                reason: "the connection string is neither postgresql://user:password@host:port/database (with special "
                    + "characters percent-encoded) nor key=value pairs"
            )
        }
        defer { PQconninfoFree(options) }
        values = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
    }

    /// Whether a server that refuses writes is not the one that was asked for.
    var requiresPrimary: Bool { ["read-write", "primary"].contains(values["target_session_attrs"] ?? "read-write") }

    /// The string without any secret.
    var redacted: String {
        ["host", "hostaddr", "port", "dbname", "user"]
            .compactMap { key in values[key].map { "\(key)=\($0)" } }
            .joined(separator: " ")
    }

    /// Sets what the string leaves open.
    mutating func setDefaults(_ defaults: [String: String]) {
        values.merge(defaults) { given, _ in given }
    }

    /// Sets what the string has no say in.
    mutating func set(_ keyword: String, to value: String) {
        values[keyword] = value
    }

    /// Puts settings of the session in front of those that the string gives, which therefore win.
    mutating func prependSessionSettings(_ settings: [(name: String, value: String)]) {
        let options = settings.map { "-c \($0.name)=\($0.value)" }
        values["options"] = (options + [values["options"]].compactMap(\.self)).joined(separator: " ")
    }
}
