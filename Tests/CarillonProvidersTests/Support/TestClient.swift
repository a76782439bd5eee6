import CarillonCore
import NIOHTTP1
import NIOSSL

@testable import CarillonProviders

extension OutboundHTTPClient {
    /// A client that may reach the loopback.
    static func test(
        allowing blocks: [String] = ["127.0.0.0/8"],
        trusting authority: TestAuthority? = nil,
        lookup: @escaping NameResolver.Lookup = { _ in throw OutboundError.nameNotFound }
    ) throws -> OutboundHTTPClient {
        var tls = try TLSConfiguration.outbound()
        if let authority { tls.additionalTrustRoots = [.certificates([try authority.certificate()])] }
        return try OutboundHTTPClient(
            egress: EgressGuard(allowing: blocks.map { try CIDRBlock($0) }),
            resolver: NameResolver(threads: 2, lookup: lookup),
            tls: tls
        )
    }

    /// Posts a short text.
    func post(to url: String, timeout: Duration = .seconds(30)) async throws -> OutboundResponse {
        try await execute(
            OutboundRequest(url: url, headers: ["content-type": "text/plain"], body: Array("hello".utf8)),
            timeout: timeout
        )
    }
}
