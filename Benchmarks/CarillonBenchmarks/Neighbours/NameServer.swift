import NIOCore
import NIOPosix

/// A name server on loopback (RFC 1035) that answers for one domain and never for another.
enum NameServer {
    /// The domain whose names have the address 127.0.0.1.
    static let answered = "prompt.test"
    /// The domain whose names get no answer.
    static let silent = "silent.test"
    /// Where it listens, on port 53.
    static let address = "127.0.0.153"

    /// Runs the server meanwhile.
    /// - Throws: What `body` throws; ``BenchmarkFailure`` where this process may not listen on port 53.
    static func withServer<Value>(_ body: () async throws -> Value) async throws -> Value {
        let server: any Channel
        do {
            server = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(QuestionHandler())
                    }
                }
                .bind(host: address, port: 53)
                .get()
        } catch {
            throw BenchmarkFailure("a name server needs root to listen on port 53: \(error)")
        }
        do {
            let value = try await body()
            try await server.close()
            return value
        } catch {
            try? await server.close()
            throw error
        }
    }
}

/// Answers what it is asked with one record, with none, or not at all.
private final class QuestionHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private static let addressType: UInt16 = 1
    private static let secondsToLive: UInt32 = 1

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        guard let answer = answer(to: envelope.data) else { return }
        let reply = AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: answer)
        context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
    }

    private func answer(to query: ByteBuffer) -> ByteBuffer? {
        var rest = query
        guard let id: UInt16 = rest.readInteger(), rest.readableBytes > 10 else { return nil }
        rest.moveReaderIndex(forwardBy: 10)
        var labels: [String] = []
        while let length: UInt8 = rest.readInteger(), length > 0 {
            guard let label = rest.readString(length: Int(length)) else { return nil }
            labels.append(label)
        }
        guard let type: UInt16 = rest.readInteger(), let _: UInt16 = rest.readInteger() else { return nil }
        let name = labels.joined(separator: ".").lowercased()
        guard !name.hasSuffix(NameServer.silent) else { return nil }
        let isKnown = name.hasSuffix(NameServer.answered)
        let hasRecord = isKnown && type == Self.addressType
        let question = query.getSlice(at: query.readerIndex + 12, length: rest.readerIndex - query.readerIndex - 12)
        var answer = ByteBuffer()
        // An answer with recursion asked for and available; code 3 is that there is no such name.
        answer.writeMultipleIntegers(id, UInt16(isKnown ? 0x8180 : 0x8183), UInt16(1), UInt16(hasRecord ? 1 : 0))
        answer.writeInteger(UInt32(0))
        if let question { answer.writeImmutableBuffer(question) }
        if hasRecord {
            // The name is the question's, by a pointer to it.
            answer.writeMultipleIntegers(UInt16(0xC00C), Self.addressType, UInt16(1), Self.secondsToLive, UInt16(4))
            answer.writeBytes([127, 0, 0, 1])
        }
        return answer
    }
}
