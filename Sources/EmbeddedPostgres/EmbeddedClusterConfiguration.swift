package struct EmbeddedClusterConfiguration: Sendable {
    /// The directory that holds the cluster, its log and its lock. It is made on first use.
    package var dataDirectory: String
    /// Server settings that win over the built-in ones, by their names in `postgresql.conf`, for example `fsync`.
    package var settings: [String: String]
    /// The directory of `postgres` and `initdb`; nil searches PATH and then Debian's directories, newest version first.
    package var binaryDirectory: String?
    /// How long the server may take until it accepts connections. For as long as it recovers after a crash this time stands still.
    package var startTimeout: Duration
    /// How long the server may take to stop by itself before it is made to.
    package var stopTimeout: Duration
    /// The account that runs PostgreSQL when this process runs as root, which PostgreSQL refuses.
    package var serverAccount: String
    /// The directory that is thrown away with the server, when it is; nil for a server that outlives its owner.
    ///
    /// The server of a throw-away cluster ends with the process that has started it, however that ends, and the directory
    /// goes then, too. Who stops it in good order removes the directory itself.
    package var throwAwayDirectory: String?

    /// Describes a cluster.
    package init(
        dataDirectory: String,
        settings: [String: String] = [:],
        binaryDirectory: String? = nil,
        startTimeout: Duration = .seconds(60),
        stopTimeout: Duration = .seconds(30),
        serverAccount: String = "postgres",
        throwAwayDirectory: String? = nil
    ) {
        self.dataDirectory = dataDirectory
        self.settings = settings
        self.binaryDirectory = binaryDirectory
        self.startTimeout = startTimeout
        self.stopTimeout = stopTimeout
        self.serverAccount = serverAccount
        self.throwAwayDirectory = throwAwayDirectory
    }
}

/// How much longer a start may take.
///
/// While a server recovers, its time stands still: whoever stopped it then would have it begin anew at the next start, and never come
/// to an end.
struct StartPatience: Sendable {
    private static let interval = Duration.seconds(10)

    private let limit: Duration
    private var deadline: ContinuousClock.Instant
    private var spokeAt: ContinuousClock.Instant

    init(_ limit: Duration) {
        self.limit = limit
        let now = ContinuousClock.now
        (deadline, spokeAt) = (now + limit, now)
    }

    /// Whether a server that gets no further has had its time.
    var isOver: Bool { deadline <= .now }

    /// Leaves out the time since a moment, in which the server recovered; answers whether it is time to say so.
    mutating func leaveOut(since start: ContinuousClock.Instant) -> Bool {
        let now = ContinuousClock.now
        deadline += now - start
        guard now - spokeAt >= min(Self.interval, limit) else { return false }
        spokeAt = now
        return true
    }
}
