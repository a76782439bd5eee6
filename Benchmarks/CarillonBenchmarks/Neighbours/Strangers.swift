import NIOCore
import NIOPosix
import Subprocess

/// Strangers who hold connections to the public port; whatever is closed they open again.
struct Strangers: Neighbour {
    /// What they do with a connection.
    enum Manner: Sendable {
        /// Nothing.
        case silent
        /// Send a byte of a request's head every five seconds.
        case slowHeaders
        /// Ask for something once, and keep the connection.
        case idle
    }

    /// How many connections they hold.
    let count: Int
    /// What they do with them.
    let manner: Manner
    /// The service's soft and hard limits of descriptors, as prlimit(1) takes them; those of this process, unless given.
    var limits: String?

    // A place for a share of an address is not enough against many addresses.
    private static let addresses = 16
    private static let pause = Duration.milliseconds(200)

    var launcher: [String] { limits.map { ["prlimit", "--nofile=\($0)"] } ?? [] }

    var headStart: Duration { .seconds(4) }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let count = limits == nil ? scene.scaled(count) : count
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<count {
                let address = try SocketAddress(ipAddress: "127.0.1.\(1 + number % Self.addresses)", port: 0)
                group.addTask { await hold(from: address, port: scene.service.port) }
                // A thousand a second, so that connecting is not the load.
                if number % 10 == 9 { try await Task.sleep(for: .milliseconds(10)) }
            }
        }
    }

    private func hold(from address: SocketAddress, port: Int) async {
        while !Task.isCancelled {
            let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(to: address)
                .connectTimeout(.seconds(5))
            if let channel = try? await bootstrap.connect(host: "127.0.0.1", port: port).get() {
                let talk = Task { await behave(on: channel) }
                await withTaskCancellationHandler {
                    try? await channel.closeFuture.get()
                } onCancel: {
                    channel.close(promise: nil)
                }
                talk.cancel()
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func behave(on channel: any Channel) async {
        switch manner {
        case .silent: break
        case .idle:
            let request = ByteBuffer(string: "GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            channel.writeAndFlush(request, promise: nil)
        case .slowHeaders:
            channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\nhost: a\r\nx-slow: "), promise: nil)
            while !Task.isCancelled, channel.isActive {
                try? await Task.sleep(for: .seconds(5))
                channel.writeAndFlush(ByteBuffer(string: "x"), promise: nil)
            }
        }
    }
}
