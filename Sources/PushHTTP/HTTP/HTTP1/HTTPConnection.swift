import struct CarillonCore.OutboundURL
import NIOCore
import NIOHTTP1
import NIOPosix

/// One HTTP/1.1 connection to an address that was checked.
final class HTTPConnection: Sendable {
    let origin: Origin
    let channel: any Channel
    let openedAt = NIODeadline.now()
    private let exchange: NIOLoopBound<ExchangeHandler>

    private init(origin: Origin, channel: any Channel, exchange: NIOLoopBound<ExchangeHandler>) {
        self.origin = origin
        self.channel = channel
        self.exchange = exchange
    }

    /// Makes an HTTP/1.1 connection of a channel, on its event loop.
    static func configure(
        _ channel: any Channel,
        for origin: Origin,
        maximumAnswerBytes: Int
    ) throws -> HTTPConnection {
        let exchange = ExchangeHandler()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(AnswerSizeLimit(maximumBytes: maximumAnswerBytes))
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(exchange)
        return HTTPConnection(
            origin: origin,
            channel: channel,
            exchange: NIOLoopBound(exchange, eventLoop: channel.eventLoop)
        )
    }

    /// Sends a request; one at a time. Without a whole answer by the deadline the connection is closed.
    func send(
        _ request: OutboundRequest,
        to url: OutboundURL,
        until deadline: NIODeadline
    ) -> EventLoopFuture<ExchangeHandler.Answer> {
        let answer = channel.eventLoop.makePromise(of: ExchangeHandler.Answer.self)
        let head = HTTPRequestHead(request, to: url)
        channel.eventLoop.execute { [exchange, channel] in
            exchange.value.send(head, body: request.body, until: deadline, answer: answer, on: channel)
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
        var headers: HTTPHeaders = ["host": url.authority]
        if request.method.hasBody { headers.add(name: "content-length", value: "\(request.body.count)") }
        headers.add(contentsOf: request.headers)
        self.init(
            version: .http1_1,
            method: HTTPMethod(rawValue: request.method.rawValue),
            uri: url.target,
            headers: headers
        )
    }
}

extension Channel {
    /// Closes without reading on, as TLS would while it waits for the other side to say goodbye.
    func closeUnread() {
        setOption(.autoRead, value: false).whenComplete { _ in self.close(promise: nil) }
    }
}
