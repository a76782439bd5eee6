import CarillonCore
import NIOCore
import NIOPosix
import Synchronization

@testable import PushHTTP

/// A name server on the loopback that answers what it is told, or not at all.
final class FakeNameServer: Sendable {
    /// What it was asked.
    struct Query: Sendable {
        var name: String
        var type: UInt16
        var id: UInt16
        var isExtended: Bool
        var overTCP: Bool
        var port: Int

        /// The header and the question of an answer.
        func head(id: UInt16? = nil, name: String? = nil, flags: UInt16 = 0x8180, answers: UInt16 = 0) -> ByteBuffer {
            var message = ByteBuffer()
            message.writeMultipleIntegers(id ?? self.id, flags, UInt16(1), answers, UInt16(0), UInt16(0))
            message.writeName(name ?? self.name)
            message.writeMultipleIntegers(type, UInt16(1))
            return message
        }

        /// An answer with these addresses, of those versions that were asked for.
        func answer(_ addresses: [IPAddress], of owner: String? = nil, flags: UInt16 = 0x8180) -> ByteBuffer {
            let wanted = addresses.filter { if case .v4 = $0 { type == 1 } else { type == 28 } }
            var message = head(flags: flags, answers: UInt16(wanted.count))
            for address in wanted { message.writeRecord(of: owner ?? name, address) }
            return message
        }
    }

    /// What is sent back to a query; several messages in this order.
    typealias Behaviour = @Sendable (Query) -> [ByteBuffer]

    private let seen = Mutex<[Query]>([])
    private let behaviour: Behaviour

    private init(_ behaviour: @escaping Behaviour) { self.behaviour = behaviour }

    /// Everything that it was asked so far.
    var queries: [Query] { seen.withLock { $0 } }

    /// Runs a body with the server and its address, where it answers over UDP and TCP.
    static func answering(
        _ behaviour: @escaping Behaviour,
        during body: (FakeNameServer, SocketAddress) async throws -> Void
    ) async throws {
        let server = FakeNameServer(behaviour)
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(StreamHandler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let address = listener.localAddress else { return }
        let datagrams = try await DatagramBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramHandler(server))
                }
            }
            .bind(to: address).get()
        do {
            try await body(server, address)
        } catch {
            try await datagrams.close()
            try await listener.close()
            throw error
        }
        try await datagrams.close()
        try await listener.close()
    }

    private func replies(to message: ByteBuffer, overTCP: Bool, from port: Int) -> [ByteBuffer] {
        var reader = DNSReader(message)
        guard let id = reader.integer(), reader.integer() == 0x0100, reader.integer() == 1, reader.skip(4),
            let additional = reader.integer(), let name = reader.name(), let type = reader.integer()
        else { return [] }
        let isExtended = additional == 1
        let query = Query(name: name, type: type, id: id, isExtended: isExtended, overTCP: overTCP, port: port)
        seen.withLock { $0.append(query) }
        return behaviour(query)
    }

    private final class DatagramHandler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>

        private let server: FakeNameServer

        init(_ server: FakeNameServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            let port = envelope.remoteAddress.port ?? 0
            for reply in server.replies(to: envelope.data, overTCP: false, from: port) {
                let answer = AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: reply)
                context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
            }
        }
    }

    private final class StreamHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: FakeNameServer
        private var received = ByteBuffer()

        init(_ server: FakeNameServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var part = unwrapInboundIn(data)
            received.writeBuffer(&part)
            while let query = received.readLengthPrefixedSlice(as: UInt16.self) {
                for reply in server.replies(to: query, overTCP: true, from: context.remoteAddress?.port ?? 0) {
                    var message = ByteBuffer()
                    message.writeInteger(UInt16(reply.readableBytes))
                    message.writeImmutableBuffer(reply)
                    context.writeAndFlush(wrapOutboundOut(message), promise: nil)
                }
            }
        }
    }
}

extension ByteBuffer {
    mutating func writeName(_ name: String) {
        for label in name.utf8.split(separator: UInt8(ascii: ".")) {
            writeInteger(UInt8(label.count))
            writeBytes(label)
        }
        writeInteger(UInt8(0))
    }

    mutating func writeRecord(of owner: String, _ address: IPAddress) {
        writeName(owner)
        switch address {
        case .v4(let value):
            writeMultipleIntegers(UInt16(1), UInt16(1), UInt32(60), UInt16(4), value)
        case .v6(let value):
            writeMultipleIntegers(UInt16(28), UInt16(1), UInt32(60), UInt16(16))
            writeMultipleIntegers(UInt64(truncatingIfNeeded: value >> 64), UInt64(truncatingIfNeeded: value))
        }
    }

    /// A record that says that a name is another one's.
    mutating func writeAlias(of owner: String, to target: String) {
        writeName(owner)
        var data = ByteBuffer()
        data.writeName(target)
        writeMultipleIntegers(UInt16(5), UInt16(1), UInt32(60), UInt16(data.readableBytes))
        writeBuffer(&data)
    }
}
