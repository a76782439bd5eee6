import CarillonCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

@testable import PushHTTP

extension OutboundHTTPClient {
    /// A client that may reach the loopback, and keeps its connections.
    static func test(
        allowing blocks: [String] = ["127.0.0.0/8"],
        trusting authority: TestAuthority? = nil,
        policy: ConnectionPolicy = .lasting,
        logger: Logger? = nil,
        lookup: @escaping NameResolver.Lookup = { _ in throw OutboundError.nameNotFound }
    ) throws -> OutboundHTTPClient {
        var tls = TLSConfiguration.outbound()
        if let authority { tls.additionalTrustRoots = [.certificates([try authority.certificate()])] }
        let connector = Connector(
            egress: EgressGuard(allowing: try blocks.map { try CIDRBlock($0) }),
            resolver: NameResolver(lookup: lookup),
            tls: try NIOSSLContext(configuration: tls),
            group: MultiThreadedEventLoopGroup.singleton,
            connections: OpenConnections(policy)
        )
        // However slow the machine is, no test depends on what happens within seconds.
        return OutboundHTTPClient(connector, policy: policy, idleWait: .hours(1), logger: logger)
    }

    /// Posts a short text, for a network if there is one.
    func post(
        to url: String,
        of network: String? = nil,
        app: String = "",
        timeout: Duration = .seconds(30)
    ) async throws -> OutboundResponse {
        let lane = network.map { Lane(networkID: NetworkID(trusted: $0), provider: .webhook, appID: app) }
        let request = OutboundRequest(
            url: url,
            headers: ["content-type": "text/plain"],
            body: Array("hello".utf8),
            lane: lane
        )
        return try await execute(request, timeout: timeout)
    }
}
