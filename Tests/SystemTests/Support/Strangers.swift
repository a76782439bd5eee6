import NIOCore
import NIOPosix
import Synchronization

/// Strangers who hold connections to the public port; whatever is closed they open again.
final class Strangers: Sendable {
    /// What they do with a connection.
    enum Manner: Sendable, CaseIterable {
        case silent
        /// Send a byte of a request's head now and then.
        case slowHeaders
        /// Ask for something once, and keep the connection.
        case idle
    }

    // A share of the places for an address is not enough against many addresses.
    private static let addresses = 16
    // Not those of the clients beside them: what waits in the test itself is no fault of the service.
    private static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let manner: Manner
    private let count: Int
    private let port: Int
    private let attempts = Atomic(0)

    init(_ count: Int, _ manner: Manner, port: Int) {
        self.count = count
        self.manner = manner
        self.port = port
    }

    /// How many connections were tried so far.
    var tried: Int { attempts.load(ordering: .relaxed) }

    /// Holds connections until it is cancelled.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<count {
                let address = try SocketAddress(ipAddress: "127.0.1.\(1 + number % Self.addresses)", port: 0)
                group.addTask { await self.hold(from: address) }
            }
        }
    }

    private func hold(from address: SocketAddress) async {
        while !Task.isCancelled {
            let bootstrap = ClientBootstrap(group: Self.eventLoops)
                .bind(to: address)
                .connectTimeout(.seconds(5))
            let channel = try? await bootstrap.connect(host: "127.0.0.1", port: port).get()
            attempts.add(1, ordering: .relaxed)
            if let channel {
                let talk = Task { await self.behave(on: channel) }
                await withTaskCancellationHandler {
                    try? await channel.closeFuture.get()
                } onCancel: {
                    channel.close(promise: nil)
                }
                talk.cancel()
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    private func behave(on channel: any Channel) async {
        switch manner {
        case .silent: break
        case .idle:
            channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\nhost: a\r\n\r\n"), promise: nil)
        case .slowHeaders:
            channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\nhost: a\r\nx-slow: "), promise: nil)
            while !Task.isCancelled, channel.isActive {
                try? await Task.sleep(for: .seconds(2))
                channel.writeAndFlush(ByteBuffer(string: "x"), promise: nil)
            }
        }
    }
}
