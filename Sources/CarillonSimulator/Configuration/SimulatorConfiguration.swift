/// What a ``Simulator`` listens on, checks and remembers.
package struct SimulatorConfiguration: Sendable {
    /// How much is looked at, and remembered, of what arrives.
    package enum Detail: Sendable {
        /// Everything is checked, decoded and remembered with its text.
        case everything
        /// Everything is checked; time, token, id and answer are remembered, neither text nor payload.
        case identifiers
        /// The constant server of a benchmark: whoever is authenticated is accepted unread, and only counted.
        ///
        /// Token prefixes, payloads and all headers but the authentication are ignored; ``Disturbances`` hold.
        case counts
    }

    /// Whether clients of APNs show a certificate.
    package enum ClientCertificates: Sendable {
        /// With a certificate of the simulator's authority, or with a provider token.
        case optional
        case required
        /// Only with a provider token: a certificate is not asked for.
        case none
    }

    /// Where APNs for production listens; 0 takes a port that is free.
    package var apnsProductionPort = 0
    /// Where APNs for development listens; 0 takes a port that is free.
    package var apnsSandboxPort = 0
    /// Where FCM and its token endpoint listen; 0 takes a port that is free.
    package var fcmPort = 0
    /// Where Web Push listens; 0 takes a port that is free.
    package var webPushPort = 0
    /// The ports that URLs name where a proxy stands before a service: clients sign what they are called by.
    package var proxyPorts: [SimulatedService: Int] = [:]
    /// The folder for the generated files; `nil` makes one that ``Simulator/shutdown()`` removes.
    package var directory: String?

    /// MAX_CONCURRENT_STREAMS of each HTTP/2 connection.
    package var maximumConcurrentStreams = 1000
    /// Whether a provider token is refused that was issued less than 20 minutes from another one of its key.
    package var limitsTokenUpdates = true
    package var clientCertificates = ClientCertificates.optional
    package var accessTokenLifetime = Duration.seconds(3599)
    /// The project of the service account.
    package var projectID = "simulated-project"

    package var detail = Detail.everything
    /// The number of notifications, and of notification ids, that are remembered; older ones are forgotten.
    package var recordLimit = 100_000
    /// How every service misbehaves from the start.
    package var disturbances = Disturbances()

    package init() {}
}

package enum SimulatedService: String, CaseIterable, Hashable, Sendable {
    case apnsProduction = "apns production"
    case apnsSandbox = "apns sandbox"
    case fcm
    case oauth
    case webPush = "web push"
}

/// Where the services of a ``Simulator`` are, without a slash at the end.
package struct SimulatorURLs: Hashable, Sendable {
    /// For `CARILLON_APNS_PRODUCTION_URL`.
    package let apnsProduction: String
    /// For `CARILLON_APNS_SANDBOX_URL`.
    package let apnsSandbox: String
    /// For `CARILLON_FCM_URL`.
    package let fcm: String
    /// What the endpoints of subscriptions begin with.
    package let webPush: String

    /// The endpoint for access tokens, which service accounts name.
    package var token: String { "\(fcm)/token" }
}

package enum SimulatorError: Error, Equatable, CustomStringConvertible {
    /// Fewer notifications arrived in time than were waited for.
    case timedOut(expected: Int, received: Int)
    case cannotListen(SimulatedService, port: Int, reason: String)
    case cannotWrite(path: String)

    package var description: String {
        switch self {
        case .timedOut(let expected, let received): "expected \(expected) notifications, received \(received)"
        case .cannotListen(let service, let port, let reason): "\(service.rawValue) cannot use port \(port): \(reason)"
        case .cannotWrite(let path): "cannot write \(path)"
        }
    }
}

/// How a service misbehaves towards everybody, whatever the device.
package struct Disturbances: Sendable {
    /// What the next requests are answered, whatever they ask.
    package struct Storm: Sendable {
        /// How many requests are still answered so.
        package var remaining: Int
        /// The status, such as 429 or 503.
        package var status: Int
        /// The value of `Retry-After`; `nil` leaves the header out.
        package var retryAfter: String?

        package init(next remaining: Int, status: Int = 429, retryAfter: String? = nil) {
            self.remaining = remaining
            self.status = status
            self.retryAfter = retryAfter
        }
    }

    /// How long every answer waits.
    package var delay = Duration.zero
    /// Whether requests are read and never answered.
    package var isSilent = false
    package var storm: Storm?
    /// After how many streams a connection gets GOAWAY. The streams up to that one are answered.
    package var goAwayAfterStreams: Int?
    /// Every so manieth request is refused unread (REFUSED_STREAM); 1 refuses all.
    package var refusesEvery: Int?

    package init() {}
}
