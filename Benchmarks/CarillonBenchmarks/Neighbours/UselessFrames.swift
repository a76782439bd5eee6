import CarillonSimulator
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A user of a network whose webhooks are at servers of HTTP/2 that send frames which mean nothing, for ever.
final class UselessFrames: Neighbour {
    private static let hosts = 7
    private static let interval = Duration.milliseconds(500)

    private let authorityFile: String
    private let port = Mutex(0)

    /// - Parameter authorityFile: Where to write the certificate that the service has to trust.
    init(authorityFile: String) {
        self.authorityFile = authorityFile
    }

    var launcher: [String] { ["env", "CARILLON_EXTRA_CA_FILE=\(authorityFile)"] }

    func withSurroundings<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let authority = try CertificateAuthority()
        try Data(authority.pem.utf8).write(to: URL(fileURLWithPath: authorityFile))
        let addresses: [[UInt8]] = (0..<Self.hosts).map { [127, 0, 2, UInt8(1 + $0)] }
        let context = try Self.context(try authority.issueServer(names: [], addresses: addresses))
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 4096)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(FloodHandler())
                }
            }
            .bind(host: "0.0.0.0", port: 0)
            .get()
        port.withLock { $0 = server.localAddress?.port ?? 0 }
        do {
            let value = try await body()
            try await server.close()
            return value
        } catch {
            try? await server.close()
            throw error
        }
    }

    private static func context(_ issued: IssuedCertificate) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(issued.certificatePEM.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(issued.privateKeyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.applicationProtocols = ["h2"]
        return try NIOSSLContext(configuration: configuration)
    }

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        let port = port.withLock(\.self)
        let devices = (0..<Self.hosts).map { #""provider":"webhook","url":"https://127.0.2.\#(1 + $0):\#(port)/""# }
        try await network.importMember(devices: devices, in: scene.service)
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        try await Poster(network: network, in: scene).keepPosting("flood", every: Self.interval)
    }
}

/// Begins a connection as it should be begun (RFC 9113 section 3.4), and then sends updates of its window, of one byte each, as fast
/// as they are taken.
private final class FloodHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let settings = ByteBuffer(bytes: [0, 0, 0, 4, 0, 0, 0, 0, 0])
    private static let update: [UInt8] = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    private static let updates = ByteBuffer(bytes: (0..<1_260).flatMap { _ in update })

    private var hasBegun = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasBegun else { return }
        hasBegun = true
        context.write(wrapOutboundOut(Self.settings), promise: nil)
        flood(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func flood(_ context: ChannelHandlerContext) {
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(Self.updates), promise: written)
        written.futureResult.assumeIsolated().whenSuccess {
            // A write that ends at once would otherwise deepen the stack.
            context.eventLoop.assumeIsolated().execute { self.flood(context) }
        }
    }
}
