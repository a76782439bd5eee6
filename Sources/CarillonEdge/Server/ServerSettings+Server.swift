package import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore

extension ServerSettings {
    /// The server to build an `Application` with: `intakes` makes, or has, what takes requests on an event loop; without it each has a task.
    package func server(
        _ connections: InboundConnections,
        logger: Logger,
        intakes: (@Sendable (any EventLoop) -> [any RequestIntake])? = nil,
        failures: FailedRequests = FailedRequests()
    ) -> HTTPServerBuilder {
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestDeadlineHandler(limit: requestDeadline)],
            // Far above the limits of ``HeadLimits``, because that can say what is accepted.
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 256 * 1024,
                maxHeaderListSize: 256 * 1024,
                maxHeaderFieldCount: 1000
            )
        )
        return HTTPServerBuilder { responder in
            ListeningChannel(
                http: HTTP1Channel(responder: responder, configuration: configuration),
                connections: connections,
                settings: self,
                refusals: RefusalWriter(logger: logger),
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
