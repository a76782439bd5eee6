import CarillonCore
package import Logging
package import NIOCore
import NIOPosix
package import NIOSSL
package import PushHTTP
import Synchronization

/// The connections to APNs, apart by credential: APNs binds a connection to the first key that it sees on it.
package final class APNsConnections: Sendable {
    /// How many credentials have connections in any case.
    private static let fewestCredentials = 1_000

    private struct State {
        var transports: [String: (transport: any HTTPTransport, lastUse: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    /// Credentials beyond these lose their connections, those first that were used longest ago: where there may be more connections, others
    /// would be opened and closed all the time.
    private let mostCredentials: Int
    private let makeTransport: @Sendable (APNsCredential) throws -> any HTTPTransport
    private let state = Mutex(State())

    /// Connections, which are opened when there is something to send.
    ///
    /// The limits of `policy` are for all credentials together, whose certificates are added to `tls`.
    /// - Throws: What NIOSSL throws for a TLS configuration that cannot be used.
    package convenience init(
        tls: TLSConfiguration,
        policy: ConnectionPolicy = .lasting,
        resolver: NameResolver = NameResolver(),
        logger: Logger? = nil,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws {
        let anonymous = try NIOSSLContext(configuration: tls)
        // They all lead to Apple's few hosts, so that there is no limit for one.
        let maximum = policy.maximumOpenConnections
        let connections = OpenConnections(maximum: maximum, maximumPerHost: maximum)
        self.init(mostCredentials: max(Self.fewestCredentials, maximum)) { credential in
            var policy = policy
            var context = anonymous
            switch credential.kind {
            case .token:
                policy.provesCredentialFirst = true
            case .certificate(let certificate):
                var tls = tls
                certificate.identify(&tls)
                context = try NIOSSLContext(configuration: tls)
            }
            return OutboundHTTPClient(
                egress: .unrestricted,
                resolver: resolver,
                tls: context,
                policy: policy,
                connections: connections,
                logger: logger,
                group: group
            )
        }
    }

    init(
        mostCredentials: Int = fewestCredentials,
        makeTransport: @escaping @Sendable (APNsCredential) throws -> any HTTPTransport
    ) {
        self.mostCredentials = mostCredentials
        self.makeTransport = makeTransport
    }

    /// What sends with a credential.
    /// - Throws: What NIOSSL throws for a certificate that it cannot use.
    func transport(for credential: APNsCredential) throws -> any HTTPTransport {
        let name = credential.connectionName
        return try state.withLock { state in
            state.uses += 1
            if let known = state.transports[name]?.transport {
                state.transports[name]?.lastUse = state.uses
                return known
            }
            if state.transports.count >= mostCredentials,
                let oldest = state.transports.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.transports[oldest.key] = nil
            }
            let transport = try makeTransport(credential)
            state.transports[name] = (transport, state.uses)
            return transport
        }
    }

    /// Leaves the connections of a credential to end with what they carry; the next request opens new ones, unless there
    /// are newer ones already.
    func renew(for credential: APNsCredential, insteadOf used: any HTTPTransport) {
        state.withLock { state in
            let name = credential.connectionName
            if state.transports[name]?.transport === used { state.transports[name] = nil }
        }
    }
}
