import NIOCore

/// How many connections a client has, how many of HTTP/2 to one host, and for how long it keeps these.
///
/// HTTP/1.1 connections are kept for seconds only, whatever this says.
package struct ConnectionPolicy: Sendable {
    /// How many connections of any version a client has to all hosts together. When that is not enough, those without a
    /// request are closed, and requests wait until their deadlines for one of the others to end; turns go round the networks,
    /// and no network has more than its share.
    package var maximumOpenConnections = 512
    /// How many of them lead to one host of a network, so that one that never answers leaves the others theirs. As many
    /// requests as a group of devices has on their way at a time; more wait for a connection that has become free. Servers that are no push
    /// services get no more requests at a time over HTTP/2, either.
    package var maximumOpenConnectionsPerHost = 64
    /// How many HTTP/2 connections there are to one host at a time; a further one is opened when the streams of the others are
    /// taken.
    package var maximumConnections = 4
    /// Whether networks share connections. What they share is good for hosts that answer everybody alike; where users choose
    /// hosts and paths, each network has connections of its own, so that none waits for what another one has sent.
    package var isShared = false
    /// How long opening a connection that several requests wait for may take, and how long it stands in line at a time;
    /// each of them gives up by its own deadline.
    package var maximumOpeningTime = Duration.seconds(15)
    /// How many requests may wait for a connection, and how many for a stream of one host; of both, a network may have its
    /// share. The next one fails at once as ``OutboundError/busy``.
    package var maximumWaiting = 10_000
    /// How many streams of one connection are used, even if the server permits more.
    package var maximumStreams = 1_000
    /// How much is read of an answer, head and body together.
    package var maximumAnswerBytes = 65_536
    package var idleLimit: Duration
    /// How long a connection takes new requests, so that a host that moves to another address is followed; `nil` for as
    /// long as it works.
    package var maximumAge: Duration?
    /// After how much silence the server is asked with a PING whether it is still there.
    package var pingInterval: Duration
    /// How long it may take to answer a PING before the connection is closed.
    package var pongLimit = Duration.seconds(15)
    /// Whether a new connection carries one request at a time until an answer other than 401 and 403 came, or the server has
    /// raised its limit of one, as Apple asks of connections whose token it has not seen yet.
    package var provesCredentialFirst = false
    /// After how long without such an answer another connection is opened for those who wait.
    package var proofPatience = Duration.seconds(1)

    /// The same policy for a client that has so many slots for connections: one host gets an eighth of them at the most.
    package func limited(to connections: Int) -> ConnectionPolicy {
        var policy = self
        policy.maximumOpenConnections = connections
        policy.maximumOpenConnectionsPerHost = min(maximumOpenConnectionsPerHost, max(1, connections / 8))
        return policy
    }

    /// For hosts that other people chose: closed after half a minute without traffic, and after five minutes in any case.
    package static let brief = ConnectionPolicy(
        idleLimit: .seconds(30),
        maximumAge: .seconds(300),
        pingInterval: .seconds(3_600)
    )

    /// For a push service that the operator trusts: kept for a day, asked every hour whether it is still there.
    package static let lasting = ConnectionPolicy(
        idleLimit: .seconds(86_400),
        maximumAge: nil,
        pingInterval: .seconds(3_600)
    )

    /// For a push service that all networks use and that answers all of them alike.
    package static var shared: ConnectionPolicy {
        var policy = lasting
        policy.isShared = true
        return policy
    }
}
