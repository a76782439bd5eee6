package import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore

extension ServerSettings {
    /// The server to build an `Application` with.
    ///
    /// The decoder's own limits lie far above those of ``HeadLimits``, because that can say what is accepted.
    ///
    /// - Parameters:
    ///   - connections: Keeps account of the server's connections.
    ///   - logger: Told of requests that could not be read.
    ///   - intakes: Makes, or has, what takes requests on an event loop; without it each has a task.
    ///   - failures: Told what the intakes could not do.
    /// - Returns: The server.
    package func server(
        _ connections: InboundConnections,
        logger: Logger,
        intakes: (@Sendable (any EventLoop) -> [any RequestIntake])? = nil,
        failures: FailedRequests = FailedRequests()
    ) -> HTTPServerBuilder {
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestDeadlineHandler(limit: requestDeadline)],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 256 * 1024,
                maxHeaderListSize: 256 * 1024,
                maxHeaderFieldCount: 1000
            )
        )
        return HTTPServerBuilder { responder in
            ListeningChannel(
                HTTP1Channel(responder: responder, configuration: configuration),
                connections: connections,
                settings: self,
                logger: logger,
                makeIntake: { loop in intakes.map { IntakeHandler($0(loop), failures: failures) } }
            )
        }
    }

    /// The configuration to build an `Application` with that listens at an address.
    package func configuration(address: BindAddress) -> ApplicationConfiguration {
        ApplicationConfiguration(
            address: address,
            backlog: 4096,
            availableConnectionsDelegate: MaximumAvailableConnections(connections)
        )
    }
}
