package import NIOCore

/// How much a caller may ask of a listening port.
package struct ServerSettings: Sendable {
    /// How long the head of a request may take, from the first byte, or from the moment when the connection was accepted.
    package var headTimeout = TimeAmount.seconds(10)
    /// After how long a connection is closed on which no further request begins or an answer is not fetched.
    package var idleTimeout = TimeAmount.seconds(20)
    /// After how long a trusted proxy's connection is closed on which no further request begins: later than the usual ones stop using it (Google's
    /// after 600 s, Amazon's and nginx after 60 s), since what they send in the moment in which it is closed is lost.
    package var proxyIdleTimeout = TimeAmount.seconds(620)
    /// How long a request may take to arrive; an import may take so long between two parts.
    package var requestDeadline = TimeAmount.seconds(15)
    /// How long the database may work for one request, an import excepted.
    package var workLimit = Duration.seconds(5)
    /// The size of all header fields of a request together, in bytes; more is answered with 431.
    package var headerBytes = 16 * 1024
    /// The number of header fields; more is answered with 431.
    package var headerCount = 64
    /// Whose `X-Forwarded-For` is believed.
    package var trustedProxies = TrustedProxies.loopback
    package var corsOrigins = CORSOrigins.named([])
    /// The addresses that end in a slash.
    package var folders: Set<String> = []
    /// How many connections there are at a time; further ones wait in the system's queue.
    package var connections = 4096
    /// How many of them one address may have, unless it is a trusted proxy's.
    package var connectionsPerAddress: Int { max(1, connections / 8) }

    package init() {}

    /// What a header field counts of ``headerBytes``.
    package static func headerBytes(_ name: String, _ value: String) -> Int {
        // Two for the colon and the space, two for the end of the line.
        name.utf8.count + value.utf8.count + 4
    }

    /// How many slots are kept for those who arrive, by displacing who has waited longest.
    var spareSlots: Int { max(1, min(64, connections / 8)) }
}

/// Which web pages may call the API from a browser (API section 14, `CARILLON_CORS_ORIGINS`).
package enum CORSOrigins: Hashable, Sendable {
    /// Pages of these origins, such as `https://chat.example`; none by default.
    case named(Set<String>)
    case all

    /// What `Access-Control-Allow-Origin` answers to a page; `nil` when it may not call.
    func allowed(_ origin: String) -> String? {
        switch self {
        case .named(let origins): origins.contains(origin) ? origin : nil
        case .all: "*"
        }
    }
}
