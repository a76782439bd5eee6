package import CarillonCore
package import Logging
package import NIOCore
import NIOPosix
package import NIOSSL
import Synchronization

/// Sends requests, to the addresses that ``EgressGuard`` permits and nowhere else.
///
/// A name is looked up here, all of its addresses are checked, and the connection is made to one of those, while `Host`,
/// SNI and the verification of the certificate go by the name. Clients that take a URL look the name up themselves, after
/// any check; that gap is what DNS rebinding uses. So this is a small client of its own, which has only what a signed
/// POST needs: no redirects, proxies, cookies or decompression.
///
/// Through TLS it speaks HTTP/2 where the server does (RFC 9113), many requests over few connections, and otherwise
/// HTTP/1.1. One client is one identity: its connections are shared by all who use it, and may be bound to what was sent
/// over them first.
///
/// Everything is bounded: each request by one deadline for all of its steps, each answer by 64 KiB of head and body, how
/// often what a server refused unread is sent again, and how many connections are open.
package final class OutboundHTTPClient: HTTPTransport {
    /// How often a request is sent that was surely not processed.
    private static let maximumTries = 8
    /// How many hosts are remembered that are not connected to.
    private static let maximumOrigins = 1_024

    private struct PoolKey: Hashable {
        let origin: Origin
        let isPushService: Bool
    }

    private let connector: Connector
    private let policy: ConnectionPolicy
    private let logger: Logger?
    private let pools = Mutex<[PoolKey: OriginPool]>([:])
    let idle: IdleConnections
    var connections: OpenConnections { connector.connections }
    /// How many requests wait for a stream.
    var waiting: Int { pools.withLock { $0.values.reduce(0) { $0 + $1.waiting } } }

    /// A client that sends where `egress` permits it: `.unrestricted` is for services that the operator names.
    /// - Throws: What NIOSSL throws for a TLS configuration that cannot be used.
    package convenience init(
        egress: EgressGuard,
        resolver: NameResolver = NameResolver(),
        tls: TLSConfiguration,
        policy: ConnectionPolicy = .brief,
        logger: Logger? = nil,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws {
        let tls = try NIOSSLContext(configuration: tls)
        self.init(egress: egress, resolver: resolver, tls: tls, policy: policy, logger: logger, group: group)
    }

    /// A client that shares a TLS context with others, since reading the trusted roots takes time and memory; and slots for
    /// connections where they are given, otherwise those of the policy are its own.
    package convenience init(
        egress: EgressGuard,
        resolver: NameResolver,
        tls: NIOSSLContext,
        policy: ConnectionPolicy,
        connections: OpenConnections? = nil,
        logger: Logger? = nil,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) {
        let connector = Connector(
            egress: egress,
            resolver: resolver,
            tls: tls,
            group: group,
            connections: connections ?? OpenConnections(policy)
        )
        self.init(connector, policy: policy, logger: logger)
    }

    init(_ connector: Connector, policy: ConnectionPolicy, idleWait: TimeAmount = .seconds(4), logger: Logger? = nil) {
        self.connector = connector
        self.policy = policy
        self.idle = IdleConnections(maximumWait: idleWait)
        self.logger = logger
    }

    deinit {
        for pool in pools.withLock({ $0.values }) { pool.close() }
    }

    /// Sends a request and reads the answer, of whatever status.
    ///
    /// Over a connection that is open already if there is one. What has surely not been processed, since the connection
    /// was closed before anything was sent, or the server said so, is sent again at once.
    ///
    /// - Throws: `EgressRefusal`, ``OutboundError``, or `CancellationError` when the task was cancelled or the request was
    ///   not wanted any more before it was sent. What has been sent is waited for.
    package func execute(_ request: OutboundRequest, timeout: Duration) async throws -> OutboundResponse {
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        let url = try connector.egress.check(request.url)
        let origin = Origin(url, of: policy.isShared ? nil : request.lane?.networkID)
        let pool = pool(of: origin, for: request.lane)
        var refusal = OutboundError.refused
        for _ in 0..<Self.maximumTries {
            try Task.checkCancellation()
            do {
                switch try await pool.route(of: request.lane, until: deadline) {
                case .http2(let connection):
                    return try await connection.send(HTTP2Exchange(request, to: url, until: deadline))
                case .http1:
                    if let response = try await executeHTTP1(request, to: url, origin, pool, until: deadline) {
                        return response
                    }
                }
            } catch let error as NotProcessed {
                request.whenNotProcessed?()
                refusal = error.reason
            }
        }
        throw refusal
    }

    private func pool(of origin: Origin, for lane: Lane?) -> OriginPool {
        // Push services take what their streams do. Other servers get as many requests as they would get connections of HTTP/1.1.
        let isPushService = lane?.provider.kind.isPushService ?? true
        let key = PoolKey(origin: origin, isPushService: isPushService)
        return pools.withLock { pools in
            if let pool = pools[key] { return pool }
            if pools.count >= Self.maximumOrigins { pools = pools.filter { !$0.value.isUnused } }
            let pool = OriginPool(
                origin,
                connector: connector,
                policy: policy,
                maximumRequests: isPushService ? nil : policy.maximumOpenConnectionsPerHost,
                idle: idle,
                logger: logger
            )
            pools[key] = pool
            return pool
        }
    }

    /// `nil` when the server speaks HTTP/2 by now.
    private func executeHTTP1(
        _ request: OutboundRequest,
        to url: OutboundURL,
        _ origin: Origin,
        _ pool: OriginPool,
        until deadline: NIODeadline
    ) async throws -> OutboundResponse? {
        // Both know the deadline, and better why it was not kept.
        let slot =
            switch connections.claim(for: origin, of: request.lane, on: connector.group.any(), until: deadline) {
            case .granted(let slot): slot
            case .awaited(let slot): try await slot.value(until: deadline + .seconds(1))
            }
        if let connection = idle.take(origin) {
            defer { slot.giveBack() }
            return try await send(request, to: url, over: connection, until: deadline)
        }
        let opening = pool.connect(in: slot, until: deadline)
        let connection = try await opening.value(until: deadline + .seconds(1)) { [idle] in
            opening.whenSuccess { if case .http1(let connection) = $0 { idle.keep(connection) } }
            return nil
        }
        guard case .http1(let connection) = connection else { return nil }
        defer { slot.giveBack() }
        return try await send(request, to: url, over: connection, until: deadline)
    }

    private func send(
        _ request: OutboundRequest,
        to url: OutboundURL,
        over connection: HTTPConnection,
        until deadline: NIODeadline
    ) async throws -> OutboundResponse {
        guard !Task.isCancelled, request.isStillWanted() else {
            idle.keep(connection)
            throw CancellationError()
        }
        let answer: ExchangeHandler.Answer
        do {
            answer = try await connection.send(request, to: url, until: deadline).get()
        } catch {
            connection.close()
            throw error
        }
        request.whenAnswered?(answer.response)
        if answer.isConnectionReusable {
            idle.keep(connection)
        } else {
            connection.close()
        }
        return answer.response
    }
}
