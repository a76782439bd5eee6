import CLibPQ

/// A connection string, taken apart by libpq.
///
/// Both forms that libpq knows are understood: `postgresql://…` and `key=value` pairs, each with several hosts.
struct ConnectionInfo: Sendable {
    /// What the string says, by libpq's keyword.
    var values: [String: String]
    /// What is other at the server that hands statements on to this one, where the string says so.
    private var coordinator: [String: String]?

    /// - Throws: `invalidConfiguration`, without libpq's words: they can quote a part of the password.
    init(parsing string: String) throws(PostgresError) {
        guard let (url, coordinator) = Self.splitCoordinator(of: string) else {
            try self.init(parsingOne: string)
            return
        }
        try self.init(parsingOne: url)
        let other = try ConnectionInfo(parsingOne: "postgresql://\(coordinator)")
        guard other.values["host"] != nil else {
            throw PostgresError(.invalidConfiguration, reason: "coordinator must be a host, or host:port")
        }
        self.coordinator = other.values
    }

    /// Takes a parameter out of a URL that libpq does not know.
    private static func splitCoordinator(of string: String) -> (url: String, coordinator: String)? {
        guard string.hasPrefix("postgres://") || string.hasPrefix("postgresql://"),
            let start = string.firstIndex(of: "?")
        else { return nil }
        let (key, items) = ("coordinator=", string[string.index(after: start)...].split(separator: "&"))
        guard let item = items.first(where: { $0.hasPrefix(key) }) else { return nil }
        let others = items.filter { !$0.hasPrefix(key) }.joined(separator: "&")
        return (string[..<start] + (others.isEmpty ? "" : "?\(others)"), String(item.dropFirst(key.count)))
    }

    /// The same at the server that hands statements on to this one; `nil` where the string names none.
    var atCoordinator: ConnectionInfo? {
        guard let coordinator else { return nil }
        var info = self
        for keyword in ["hostaddr", "port"] { info.values[keyword] = nil }
        info.values.merge(coordinator) { _, new in new }
        info.coordinator = nil
        return info
    }

    private init(parsingOne string: String) throws(PostgresError) {
        var message: UnsafeMutablePointer<CChar>?
        guard !string.utf8.contains(0), let options = PQconninfoParse(string, &message) else {
            PQfreemem(message)
            throw PostgresError(
                .invalidConfiguration,
                reason:
                    "it is neither postgresql://user:password@host:port/database, with @ : / ? # % and blanks in names and "
                    + "passwords percent-encoded (%40 for @), nor key=value pairs, or has a parameter that libpq does not know"
            )
        }
        defer { PQconninfoFree(options) }
        values = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        guard arePorts(values["port"] ?? "") else {
            throw PostgresError(.invalidConfiguration, reason: "a port must be a number from 1 to 65535")
        }
        // What is behind an @ of a password would be told as the name of a host that cannot be found; sockets without a file begin with one.
        guard !(values["host"] ?? "").split(separator: ",").contains(where: { $0.dropFirst().contains("@") }) else {
            throw PostgresError(.invalidConfiguration, reason: "an @ in a name or password must be written %40")
        }
        for (keyword, words) in Self.words {
            guard let value = values[keyword], !words.contains(value) else { continue }
            throw PostgresError(
                .invalidConfiguration,
                reason: "\(keyword) must be one of \(words.joined(separator: ", "))"
            )
        }
    }

    /// The values of parameters that libpq looks at only when it connects.
    private static let words = [
        ("sslmode", ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
        ("target_session_attrs", ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"]),
    ]

    /// Whether each of the hosts has a port that it can have, or the usual one; libpq looks at that when it connects.
    private func arePorts(_ text: String) -> Bool {
        text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { port in
            port.isEmpty || Int(port).map { (1...65_535).contains($0) } ?? false
        }
    }

    /// Whether a server that refuses writes is not the one that was asked for.
    var requiresPrimary: Bool { ["read-write", "primary"].contains(values["target_session_attrs"] ?? "read-write") }

    /// Whether the string itself gives settings of the session.
    var hasOptions: Bool { values["options"] != nil }

    /// The settings of the session that the string gives, in the forms `-c name=value` and `--name=value`.
    var settings: [(name: String, value: String)] {
        var settings: [(name: String, value: String)] = []
        var words = Self.words(of: values["options"] ?? "")[...]
        while var word = words.popFirst() {
            if word == "-c" {
                word = words.popFirst() ?? ""
            } else if word.hasPrefix("--") || word.hasPrefix("-c") {
                word.removeFirst(2)
            }
            guard let end = word.firstIndex(of: "=") else { continue }
            let name = String(word[..<end]).replacing("-", with: "_")
            settings.append((name: name, value: String(word[word.index(after: end)...])))
        }
        return settings
    }

    /// Words with blanks between them; what follows a backslash is part of a word.
    private static func words(of text: String) -> [String] {
        var words = [""]
        var isEscaped = false
        for character in text {
            if isEscaped || (character != "\\" && !character.isWhitespace) {
                words[words.count - 1].append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                words.append("")
            }
        }
        return words.filter { !$0.isEmpty }
    }

    var redacted: String {
        ["host", "hostaddr", "port", "dbname", "user"]
            .compactMap { key in values[key].map { "\(key)=\($0)" } }
            .joined(separator: " ")
    }

    /// Puts settings of the session in front of those that the string gives, which therefore win.
    mutating func prependSessionSettings(_ settings: [(name: String, value: String)]) {
        let options = settings.map { "-c \($0.name)=\($0.value.replacing(" ", with: #"\ "#))" }
        values["options"] = (options + [values["options"]].compactMap(\.self)).joined(separator: " ")
    }
}
