import CarillonCore
import NIOCore
import NIOPosix
import NIOSSL

/// Opens connections: looks the name up, checks all of its addresses, and dials one after the other.
///
/// The name is looked up afresh each time. Everything is bounded: the name, each address, and all of it by a deadline; and,
/// by the slots that it is called with, how many connections there are.
struct Connector: Sendable {
    /// A host may have many addresses; all are checked, these many are tried.
    private static let maximumAttempts = 3
    /// How long one address may take, so that there is time for the next one.
    private static let maximumConnectTime = TimeAmount.seconds(4)
    private static let maximumLookupTime = TimeAmount.seconds(5)

    let egress: EgressGuard
    let resolver: NameResolver
    let tls: NIOSSLContext
    let group: any EventLoopGroup
    let connections: OpenConnections

    /// An address took the connection; what it speaks is found out.
    private struct Dialed: Sendable {
        let connection: EventLoopFuture<NegotiatedConnection>
    }

    /// Opens a connection in a slot, which one of HTTP/2 keeps until it ends.
    /// - Returns: The connection, on the event loop where it lives; or `EgressRefusal` or ``OutboundError``.
    func open(
        _ origin: Origin,
        in slot: OpenConnections.Slot,
        http2: HTTP2Connection.Settings,
        until deadline: NIODeadline
    ) -> EventLoopFuture<NegotiatedConnection> {
        let eventLoop = group.next()
        return addresses(of: origin, on: eventLoop, until: deadline)
            .flatMap { addresses -> EventLoopFuture<Dialed> in
                dial(
                    addresses.prefix(Self.maximumAttempts),
                    for: origin,
                    http2: http2,
                    on: eventLoop,
                    until: deadline,
                    after: .unreachable
                )
            }
            .flatMap { $0.connection }
            .map { connection in
                if case .http2(let connection) = connection { connections.keep(slot, for: connection.channel) }
                return connection
            }
    }

    /// The addresses to try, of which there is not one that is forbidden.
    private func addresses(
        of origin: Origin,
        on eventLoop: any EventLoop,
        until deadline: NIODeadline
    ) -> EventLoopFuture<[IPAddress]> {
        let host = origin.host
        let found: EventLoopFuture<[IPAddress]> =
            switch host {
            case .address(let address): eventLoop.makeSucceededFuture([address])
            case .name where host.isLocalhost: eventLoop.makeSucceededFuture(egress.permittedLoopback)
            case .name(let name):
                resolver.addresses(of: name, for: origin.network, on: eventLoop)
                    .bounded(by: min(deadline, .now() + Self.maximumLookupTime), orThrow: .lookupFailed)
            }
        return found.flatMapThrowing { addresses in
            guard addresses.allSatisfy({ egress.permits($0, by: origin.scheme) }) else { throw EgressRefusal.address }
            guard !addresses.isEmpty else {
                if host.isLocalhost { throw EgressRefusal.address }
                throw OutboundError.nameNotFound
            }
            return addresses.map(\.canonical)
        }
    }

    private func dial(
        _ addresses: ArraySlice<IPAddress>,
        for origin: Origin,
        http2: HTTP2Connection.Settings,
        on eventLoop: any EventLoop,
        until deadline: NIODeadline,
        after failure: OutboundError
    ) -> EventLoopFuture<Dialed> {
        guard let address = addresses.first else { return eventLoop.makeFailedFuture(failure) }
        let timeout = min(Self.maximumConnectTime, deadline - .now())
        guard timeout > .zero else { return eventLoop.makeFailedFuture(OutboundError.timedOut) }
        let socket: SocketAddress
        do {
            socket = try SocketAddress(ipAddress: address.description, port: origin.port)
        } catch {
            return eventLoop.makeFailedFuture(OutboundError.unreachable)
        }
        let result = eventLoop.makePromise(of: NegotiatedConnection.self)
        return ClientBootstrap(group: eventLoop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .keepingAlive()
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    switch origin.scheme {
                    case .http:
                        let limit = http2.policy.maximumAnswerBytes
                        result.succeed(
                            .http1(try HTTPConnection.configure(channel, for: origin, maximumAnswerBytes: limit))
                        )
                    case .https:
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: origin.serverName))
                        let negotiation = NegotiationHandler(
                            origin: origin,
                            deadline: deadline,
                            http2: http2,
                            result: result
                        )
                        try pipeline.addHandler(negotiation)
                    }
                }
            }
            .connect(to: socket)
            .map { _ in Dialed(connection: result.futureResult) }
            .flatMapError { error in
                result.fail(error)
                return dial(
                    addresses.dropFirst(),
                    for: origin,
                    http2: http2,
                    on: eventLoop,
                    until: deadline,
                    after: OutboundError(connectError: error)
                )
            }
    }
}
