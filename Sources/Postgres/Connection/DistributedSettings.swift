/// Settings that sessions have where the database hands statements on to other servers, and nowhere else: where it has the extension
/// Citus. The first session of all that share this value asks, and the others know.
public final class DistributedSettings: Sendable {
    static let question = "SELECT count(*) FROM pg_catalog.pg_extension WHERE extname = 'citus'"

    let settings: [String: String]
    private let answer = Monitor<Bool?>(nil)

    /// Settings by their names, which win over those that sessions have everywhere.
    public init(_ settings: [String: String]) {
        self.settings = settings
    }

    /// Whether the database hands statements on; `nil` before the first session has asked.
    public var areInForce: Bool? { answer.withLock { $0 } }

    func note(_ areInForce: Bool) { answer.withLock { $0 = areInForce } }
}

extension ConnectionHandle {
    /// How long the answer may take.
    private static let patience = Duration.seconds(10)

    /// Whether the database hands statements on to other servers.
    func isDistributed() throws(PostgresError) -> Bool {
        let answer = try run(.unprepared(text: DistributedSettings.question, ParameterList()), timeout: Self.patience)
        do {
            return try answer.first { row in try row.decode(0, as: Int64.self) } == 1
        } catch {
            throw PostgresError(.connectionFailed, reason: "the server says something unexpected")
        }
    }
}
