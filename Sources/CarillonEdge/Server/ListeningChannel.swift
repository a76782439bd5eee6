import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// A connection as Hummingbird serves it, with a ``ConnectionHandler`` next to the decoder, and perhaps an ``IntakeHandler`` behind it.
struct ListeningChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http: HTTP1Channel
    let connections: InboundConnections
    let settings: ServerSettings
    let refusals: RefusalWriter
    let makeIntake: @Sendable (any EventLoop) -> IntakeHandler?

    func setup(channel: any NIOCore.Channel, logger: Logger) -> EventLoopFuture<Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing {
            [connections, settings, refusals, makeIntake] value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let handler = ConnectionHandler(connections: connections, settings: settings, refusals: refusals)
            try pipeline.addHandler(handler, position: .after(decoder))
            if let intake = makeIntake(channel.eventLoop) { try pipeline.addHandler(intake, position: .after(handler)) }
            return value
        }
    }

    func handle(value: Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}
