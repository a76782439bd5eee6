package import Hummingbird
import HummingbirdCore
package import NIOCore

/// How much a caller may ask of a listening port.
package struct ServerSettings: Sendable {
    /// After how long a connection is closed on which nothing happens, or on which headers do not get complete.
    package var idleTimeout = TimeAmount.seconds(60)
    /// How long a request may take to arrive; an import may take so long between two parts.
    package var requestDeadline = TimeAmount.seconds(15)
    /// The size of all header fields of a request together, in bytes; more is answered with 431.
    package var headerBytes = 16 * 1024
    /// The number of header fields; more is answered with 431.
    package var headerCount = 64
    /// Whose `X-Forwarded-For` is believed.
    package var trustedProxies = TrustedProxies.loopback
    /// How many connections are served at a time; further ones wait in the system's queue.
    package var connections = 4096

    /// The defaults.
    package init() {}

    /// The server to build an `Application` with.
    ///
    /// The decoder's own limits lie far above those of ``RequestLimitsMiddleware``, because it can only hang up, and the
    /// middleware can say why.
    package var server: HTTPServerBuilder {
        let deadline = requestDeadline
        return .http1(
            configuration: .init(
                additionalChannelHandlers: [RequestDeadlineHandler(limit: deadline)],
                idleTimeout: idleTimeout,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 256 * 1024,
                    maxHeaderListSize: 256 * 1024,
                    maxHeaderFieldCount: 1000
                )
            )
        )
    }

    /// The configuration to build an `Application` with that listens at an address.
    package func configuration(address: BindAddress) -> ApplicationConfiguration {
        ApplicationConfiguration(
            address: address,
            availableConnectionsDelegate: MaximumAvailableConnections(connections)
        )
    }
}
