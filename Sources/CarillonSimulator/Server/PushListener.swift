import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

/// One service's port: TLS, and HTTP/2 or HTTP/1.1 as agreed by ALPN.
struct PushListener: Sendable {
    let slot: Listeners.Slot
    let tls: NIOSSLContext
    let logger: Logger

    /// Listens; 0 takes a port that is free.
    func bind(host: String, port: Int, group: any EventLoopGroup) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = NIOSSLServerHandler(context: tls)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }.flatMap {
                    channel.configureHTTP2SecureUpgrade(
                        h2ChannelConfigurator: { configure($0, configureHTTP2) },
                        http1ChannelConfigurator: { configure($0, configureHTTP1) }
                    )
                }
            }
            .bind(host: host, port: port).get()
    }

    private func configure(
        _ channel: any Channel,
        _ body: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture { try body(channel) }
    }

    @Sendable private func configureHTTP2(_ channel: any Channel) throws {
        guard let server = slot.current else { return channel.close(promise: nil) }
        let pipeline = channel.pipeline.syncOperations
        let certificate = try pipeline.nioSSL_peerCertificate()
        let connection = Connection(
            channel: channel,
            rules: server.connectionRules,
            isHTTP2: true,
            certificateTopic: certificate.map { ClientCertificate.topic(of: $0) ?? "" }
        )
        var settings = NIOHTTP2Handler.ConnectionConfiguration.simulated
        settings.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: connection.initialStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
        ]
        let bound = NIOLoopBound(connection, eventLoop: channel.eventLoop)
        _ = try pipeline.configureHTTP2Pipeline(
            mode: .server,
            connectionConfiguration: settings,
            streamConfiguration: .simulated,
            inboundStreamInitializer: { stream in
                stream.eventLoop.makeCompletedFuture {
                    try Self.configureStream(stream, connection: bound.value, server: server)
                }
            }
        )
        try pipeline.addHandler(ConnectionErrorHandler(logger: logger))
    }

    private static func configureStream(
        _ stream: any Channel,
        connection: Connection,
        server: any PushServer
    ) throws {
        let id = try stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
        guard connection.serves(id ?? .rootStream) else { return }
        try stream.pipeline.syncOperations.addHandler(ExchangeHandler(server: server, connection: connection))
        connection.opened(id ?? .rootStream, goAwayAfter: server.goAwayAfterStreams)
        stream.closeFuture.assumeIsolated().whenComplete { _ in connection.closed() }
    }

    @Sendable private func configureHTTP1(_ channel: any Channel) throws {
        guard let server = slot.current, server.connectionRules.allowsHTTP1 else { return channel.close(promise: nil) }
        let pipeline = channel.pipeline.syncOperations
        let connection = Connection(channel: channel, rules: server.connectionRules, isHTTP2: false)
        try pipeline.configureHTTPServerPipeline()
        try pipeline.addHandler(HTTP1Translator())
        try pipeline.addHandler(ExchangeHandler(server: server, connection: connection))
    }
}

/// So many frames of a kind that may be an attack are taken in each second of a connection: NIO keeps memory for them beforehand,
/// and would not notice that there is none for `Int.max`.
private let mostFrames = 10_000

extension NIOHTTP2Handler.ConnectionConfiguration {
    /// As many resets and errors as a client that is being tested may cause.
    fileprivate static var simulated: Self {
        var configuration = Self()
        configuration.contentLengthValidation = .disabled
        configuration.controlFrameRateLimit.maximumCount = mostFrames
        configuration.controlFrameRateLimit.windowLength = .seconds(1)
        configuration.maximumConnectionGlitches = .max
        return configuration
    }
}

extension NIOHTTP2Handler.StreamConfiguration {
    fileprivate static var simulated: Self {
        var configuration = Self()
        configuration.streamResetFrameRateLimit.maximumCount = mostFrames
        configuration.streamResetFrameRateLimit.windowLength = .seconds(1)
        configuration.streamErrorRateLimit.maximumCount = mostFrames
        configuration.streamErrorRateLimit.windowLength = .seconds(1)
        return configuration
    }
}
