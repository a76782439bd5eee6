import struct CarillonCore.OutboundURL
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// What a connection can be used for again: the same host by the same name, so that certificate and `Host` fit.
struct Origin: Hashable, Sendable {
    let scheme: OutboundURL.Scheme
    let host: OutboundURL.Host
    let port: Int

    init(_ url: OutboundURL) {
        scheme = url.scheme
        host = url.host
        port = url.port
    }
}

/// One HTTP/1.1 connection to an address that was checked.
final class HTTPConnection: Sendable {
    /// Head and body of an answer are read this far.
    static let maximumAnswerBytes = 65_536

    let origin: Origin
    let channel: any Channel
    let openedAt = NIODeadline.now()
    private let exchange: NIOLoopBound<ExchangeHandler>

    private init(origin: Origin, channel: any Channel, exchange: NIOLoopBound<ExchangeHandler>) {
        self.origin = origin
        self.channel = channel
        self.exchange = exchange
    }

    /// Connects to exactly this address; the name in `origin` serves TLS only.
    static func open(
        to address: SocketAddress,
        for origin: Origin,
        tls: NIOSSLContext,
        timeout: TimeAmount,
        on eventLoop: any EventLoop
    ) -> EventLoopFuture<HTTPConnection> {
        eventLoop.flatSubmit {
            // Made here and not asked of the pipeline, which is empty when the connection has ended already.
            let exchange = NIOLoopBound(ExchangeHandler(), eventLoop: eventLoop)
            return ClientBootstrap(group: eventLoop)
                .connectTimeout(timeout)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try configure(pipeline, for: origin, tls: tls, exchange: exchange.value)
                    }
                }
                .connect(to: address)
                .map { HTTPConnection(origin: origin, channel: $0, exchange: exchange) }
                .flatMapErrorThrowing { throw OutboundError(connectError: $0) }
        }
    }

    private static func configure(
        _ pipeline: ChannelPipeline.SynchronousOperations,
        for origin: Origin,
        tls: NIOSSLContext,
        exchange: ExchangeHandler
    ) throws {
        if origin.scheme == .https {
            // Without a name the certificate has to be for the address.
            let name: String? = if case .name(let name) = origin.host { name } else { nil }
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
        }
        try pipeline.addHandler(AnswerSizeLimit(maximumBytes: maximumAnswerBytes))
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(exchange)
    }

    /// Sends a request; one at a time.
    func send(_ request: OutboundRequest, to url: OutboundURL) -> EventLoopFuture<ExchangeHandler.Answer> {
        let answer = channel.eventLoop.makePromise(of: ExchangeHandler.Answer.self)
        let head = HTTPRequestHead(request, to: url)
        channel.eventLoop.execute { [exchange, channel] in
            exchange.value.send(head, body: request.body, answer: answer, on: channel)
        }
        return answer.futureResult
    }

    /// Ends the connection, whatever is still on its way.
    func close() {
        channel.closeUnread()
    }
}

extension HTTPRequestHead {
    fileprivate init(_ request: OutboundRequest, to url: OutboundURL) {
        var headers: HTTPHeaders = ["host": url.authority, "content-length": "\(request.body.count)"]
        headers.add(contentsOf: request.headers)
        self.init(version: .http1_1, method: .POST, uri: url.target, headers: headers)
    }
}

extension Channel {
    /// Closes without reading on, as TLS would while it waits for the other side to say goodbye.
    func closeUnread() {
        setOption(.autoRead, value: false).whenComplete { _ in self.close(promise: nil) }
    }
}
