import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP server of the benchmark's own, over which receivers of all kinds differ by their handlers only.
enum LoopbackServer {
    /// Lends a server's port; `makeHandler` makes what answers the requests of one connection.
    static func withPort<Value>(
        host: String = "127.0.0.1",
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        _ makeHandler: @escaping @Sendable () -> any ChannelHandler,
        _ body: (_ port: Int) async throws -> Value
    ) async throws -> Value {
        let server = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(makeHandler())
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: host, port: 0)
            .get()
        do {
            guard let port = server.localAddress?.port else { throw BenchmarkFailure("a receiver has no port") }
            let value = try await body(port)
            try await server.close()
            return value
        } catch {
            try? await server.close()
            throw error
        }
    }
}
