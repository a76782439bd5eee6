/// A service that answers requests, whatever they came over.
protocol PushServer: Sendable {
    var connectionRules: ConnectionRules { get }

    /// Decides at once about a request that has arrived completely. Runs on the connection's event loop.
    func reply(to request: Request, on connection: Connection) -> Reply

    var goAwayAfterStreams: Int? { get }
}

/// What a service does with its connections.
struct ConnectionRules: Sendable {
    /// Whether HTTP/1.1 is spoken with clients that do not offer HTTP/2.
    var allowsHTTP1: Bool
    /// MAX_CONCURRENT_STREAMS.
    var maximumConcurrentStreams: Int
    /// Whether a connection starts with one stream, until it has shown a valid provider token.
    var startsWithOneStream = false
    /// The JSON that GOAWAY carries, as Apple's does.
    var goAwayReason: String?
}
