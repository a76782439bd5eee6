import NIOPosix

/// Who may have how many of the process's file descriptors at a time.
///
/// Nothing that others cause may take the last ones: without descriptors the runtime itself cannot work. So connections
/// have slots of a fixed number, inbound and outbound apart, and what is left is for the database, for files and for the
/// runtime.
struct DescriptorBudget: Hashable, Sendable {
    /// With fewer the service works, but has room for few connections: an operator should know.
    static let comfortable = 2_000

    /// What is no connection of those: PostgreSQL's server, what listens to it, files, look-ups of names, the log.
    private static let basicReserve = 90
    /// An event loop has a selector, a wake-up and a timer, and a thread of the runtime may have as many.
    private static let reservePerLoop = 6
    /// The fewest that are worth a start, beyond the reserve.
    private static let fewestConnections = 64
    /// The most inbound connections: each takes about 20 KB of memory.
    private static let mostInbound = 8_192
    /// The most outbound connections: with TLS each takes about 60 KB of memory.
    private static let mostOutbound = 4_096

    let limit: Int
    let publicConnections: Int
    let managementConnections: Int
    /// Connections to webhooks and browsers' push services.
    let webConnections: Int
    /// Connections to endpoints.
    let relayConnections: Int
    /// Connections to servers that are asked whose tokens are.
    let introspectionConnections: Int
    /// Connections to APNs, of all credentials together.
    let apnsConnections: Int
    let fcmConnections: Int
    /// Look-ups of the names of webhooks, browsers' push services and endpoints.
    let lookups: Int

    /// A budget for a process with so many `databaseConnections`.
    ///
    /// - Throws: ``StartError`` when there are too few to work with.
    init(
        limit: Int,
        databaseConnections: Int,
        loops: Int = MultiThreadedEventLoopGroup.singleton.loopCount
    ) throws(StartError) {
        let reserve = Self.basicReserve + databaseConnections + Self.reservePerLoop * loops
        let fewest = reserve + Self.fewestConnections
        guard limit >= fewest else {
            throw StartError("the limit of open files is \(limit), but at least \(fewest) are needed: raise ulimit -n")
        }
        self.limit = limit
        let half = (limit - reserve) / 2
        let inbound = min(half, Self.mostInbound)
        let outbound = min(half, Self.mostOutbound)
        managementConnections = min(max(inbound / 8, 8), 64)
        publicConnections = inbound - managementConnections
        apnsConnections = outbound / 4
        fcmConnections = outbound / 4
        lookups = min(outbound / 8, 256)
        relayConnections = outbound / 8
        introspectionConnections = min(max(outbound / 32, 2), 128)
        webConnections =
            outbound - apnsConnections - fcmConnections - lookups - relayConnections - introspectionConnections
    }

    /// What an operator should know; `nil` when all is well.
    var concern: String? {
        guard limit < Self.comfortable else { return nil }
        return
            "the limit of open files is \(limit), so that \(publicConnections) clients have a place:"
            + " raise it to \(Self.comfortable) or more (ulimit -n, LimitNOFILE=)"
    }
}

extension MultiThreadedEventLoopGroup {
    fileprivate var loopCount: Int { Array(makeIterator()).count }
}
