public import CarillonCore
public import NIOCore
public import NIOPosix
public import NIOSSL

/// Sends requests to URLs that other people chose, to the addresses that ``EgressGuard`` permits and nowhere else.
///
/// A name is looked up here, all of its addresses are checked, and the connection is made to one of those, while `Host`,
/// SNI and the verification of the certificate go by the name. Clients that take a URL look the name up themselves, after
/// any check; that gap is what DNS rebinding uses. So this is a small HTTP/1.1 client of its own, which has only what a
/// signed POST needs: no redirects, proxies, cookies or decompression.
///
/// Everything is bounded: each request by one deadline for all of its steps, each answer by 64 KiB of head and body.
public final class OutboundHTTPClient: Sendable {
    /// A host may have many addresses; all are checked, these many are tried.
    private static let maximumAttempts = 3
    /// How long one address may take, so that there is time for the next one.
    private static let maximumConnectTime = TimeAmount.seconds(4)
    /// How long a name may take.
    private static let maximumLookupTime = TimeAmount.seconds(5)

    private let egress: EgressGuard
    private let resolver: NameResolver
    private let tls: NIOSSLContext
    private let group: any EventLoopGroup
    let idle = IdleConnections()

    /// A client.
    /// - Parameters:
    ///   - egress: Which addresses are permitted.
    ///   - resolver: Looks up names.
    ///   - tls: How to speak TLS.
    ///   - group: Where connections live; its owner shuts it down.
    /// - Throws: What NIOSSL throws for a TLS configuration that cannot be used.
    public init(
        egress: EgressGuard,
        resolver: NameResolver = NameResolver(),
        tls: TLSConfiguration,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws {
        self.egress = egress
        self.resolver = resolver
        self.tls = try NIOSSLContext(configuration: tls)
        self.group = group
    }

    /// Sends a request and reads the answer, of whatever status.
    ///
    /// Over a connection that is open already if there is one; when that turns out to be closed before anything was sent,
    /// over a new one.
    /// - Parameters:
    ///   - request: The request.
    ///   - timeout: How long name, connection, TLS, request and answer may take together.
    /// - Returns: The answer.
    /// - Throws: ``EgressRefusal``, ``OutboundError``, or `CancellationError`.
    public func execute(_ request: OutboundRequest, timeout: Duration) async throws -> OutboundResponse {
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        let url = try egress.check(request.url)
        let origin = Origin(url)
        if let connection = idle.take(origin) {
            do {
                return try await send(request, to: url, over: connection, until: deadline)
            } catch is ExchangeHandler.NothingSent {
                connection.close()
            }
        }
        let connection = try await connect(to: origin, until: deadline)
        do {
            return try await send(request, to: url, over: connection, until: deadline)
        } catch let error as ExchangeHandler.NothingSent {
            throw error.reason
        }
    }

    private func send(
        _ request: OutboundRequest,
        to url: OutboundURL,
        over connection: HTTPConnection,
        until deadline: NIODeadline
    ) async throws -> OutboundResponse {
        let answer = try await connection.send(request, to: url).value(until: deadline) { connection.close() }
        if answer.isConnectionReusable {
            idle.keep(connection)
        } else {
            connection.close()
        }
        return answer.response
    }

    private func connect(to origin: Origin, until deadline: NIODeadline) async throws -> HTTPConnection {
        let eventLoop = group.next()
        var failure = OutboundError.unreachable
        let addresses = try await addresses(of: origin.host, on: eventLoop, until: deadline)
        for address in addresses.prefix(Self.maximumAttempts) {
            let timeout = min(Self.maximumConnectTime, deadline - .now())
            guard timeout > .zero else { throw OutboundError.timedOut }
            let socket = try SocketAddress(ipAddress: address.description, port: origin.port)
            let opening = HTTPConnection.open(to: socket, for: origin, tls: tls, timeout: timeout, on: eventLoop)
            do {
                return try await opening.value(until: deadline) { opening.whenSuccess { $0.close() } }
            } catch let error as OutboundError {
                failure = error
            }
        }
        throw failure
    }

    /// The addresses to try, of which there is not one that is forbidden.
    private func addresses(
        of host: OutboundURL.Host,
        on eventLoop: any EventLoop,
        until deadline: NIODeadline
    ) async throws -> [IPAddress] {
        let addresses: [IPAddress] =
            switch host {
            case .address(let address): [address]
            case .name where host.isLocalhost: egress.permittedLoopback
            case .name(let name):
                try await resolver.addresses(of: name, on: eventLoop)
                    .value(until: min(deadline, .now() + Self.maximumLookupTime), orThrow: .lookupFailed)
            }
        guard addresses.allSatisfy(egress.permits) else { throw EgressRefusal.address }
        guard !addresses.isEmpty else {
            if host.isLocalhost { throw EgressRefusal.address }
            throw OutboundError.nameNotFound
        }
        return addresses.map(\.canonical)
    }
}
