import CarillonCore
import Hummingbird
import NIOCore

/// Finds out from whom a request is, and how it came, for limits and for the log.
struct ClientAddressMiddleware: RouterMiddleware {
    let proxies: TrustedProxies

    func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        guard let peer = context.channel.remoteAddress.flatMap(IPAddress.init) else {
            return try await next(request, context)
        }
        var context = context
        context.clientAddress = proxies.client(of: peer, request.headers)
        context.isOverTLS = proxies.heardOverTLS(from: peer, request.headers) ?? false
        context.isConfidential = proxies.areConfidential(peer, request.headers)
        return try await next(request, context)
    }
}

extension IPAddress {
    /// The address of a socket, without its port and zone; `nil` when it is none of the Internet's.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(String(text.prefix { $0 != "%" }))
    }
}
