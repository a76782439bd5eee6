import NIOCore
import NIOHTTP2
import NIOSSL
import Synchronization

/// Carries concurrent requests over one HTTP/2 connection, frame by frame, and hands each its answer.
///
/// There is no channel per stream: requests and answers are small, so that a table of what is on its way is all it takes.
/// A request that the server has surely not acted on ends as ``NotProcessed``.
final class HTTP2ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private struct Stream {
        let exchange: HTTP2Exchange
        let continuation: CheckedContinuation<OutboundResponse, any Error>
        let begunAt: NIODeadline
        var answer: HTTP2Answer
        /// Whether the protocol's own handler has refused what came on it.
        var isMalformed = false
    }

    private enum State {
        /// The server has not sent its SETTINGS yet.
        case opening(EventLoopPromise<HTTP2Connection>)
        case open
        /// No new requests: the last ones end, and then the connection does.
        case retired
        case ended(OutboundError)
    }

    /// What is assumed of a server whose SETTINGS do not limit the streams.
    private static let usualStreams = 100
    /// Identifiers are not used again; there are some hundred more for streams that are being opened.
    private static let lastStreamID = Int32.max - 1_000
    /// Smaller parts of a body are no progress, unless they are the last ones.
    private static let smallestPart = 64
    /// Half of the window that a connection begins with (RFC 9113 section 6.9.2), which is not worth enlarging.
    static let windowSize = 65_535

    /// What the server may send besides answers.
    let allowance = FrameAllowance()
    private let policy: ConnectionPolicy
    private let owner: any HTTP2Connection.Owner
    private let settingsDeadline: NIODeadline
    private var state: State
    private var context: ChannelHandlerContext?
    private var streams: [HTTP2StreamID: Stream] = [:]
    private var nextStreamID: Int32 = 1
    private var lastWritten = HTTP2StreamID.rootStream
    private var hasFailed = false
    private var peerLimit = usualStreams
    private var hasProvenCredential: Bool
    private var lastRead = NIODeadline.now()
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    private var isFlushScheduled = false

    init(
        _ settings: HTTP2Connection.Settings,
        settingsDeadline: NIODeadline,
        opened: EventLoopPromise<HTTP2Connection>
    ) {
        policy = settings.policy
        owner = settings.owner
        hasProvenCredential = !settings.policy.provesCredentialFirst
        self.settingsDeadline = settingsDeadline
        state = .opening(opened)
    }

    private var id: HTTP2Connection.ID { ObjectIdentifier(self) }
    private var limit: Int { hasProvenCredential ? min(peerLimit, policy.maximumStreams) : min(peerLimit, 1) }

    // MARK: Requests

    /// Sends a request. What comes of it, ``HTTP2Connection/Owner/requestEnded(on:of:)`` is called once.
    func begin(_ exchange: HTTP2Exchange, _ continuation: CheckedContinuation<OutboundResponse, any Error>) {
        guard !exchange.isAbandoned.load(ordering: .acquiring) else {
            return resume(exchange, continuation, .failure(CancellationError()))
        }
        guard let context, case .open = state else {
            return resume(exchange, continuation, .failure(NotProcessed(reason: .connectionClosed)))
        }
        // Nobody waits for the answer any more, and it will be sent again: the server is not to have it twice.
        guard exchange.deadline > .now() else {
            return resume(exchange, continuation, .failure(OutboundError.timedOut))
        }
        // Asked last: whoever says yes takes it for sent.
        guard exchange.isStillWanted() else { return resume(exchange, continuation, .failure(CancellationError())) }
        let streamID = HTTP2StreamID(nextStreamID)
        nextStreamID += 2
        streams[streamID] = Stream(
            exchange: exchange,
            continuation: continuation,
            begunAt: .now(),
            answer: HTTP2Answer(maximumBytes: policy.maximumAnswerBytes)
        )
        wake(at: exchange.deadline, context)

        // An empty frame of data would be a body, which some servers refuse of a GET.
        let hasBody = exchange.body.readableBytes > 0
        let head = HTTP2Frame.FramePayload.Headers(headers: exchange.headers, endStream: !hasBody)
        context.write(wrapOutboundOut(HTTP2Frame(streamID: streamID, payload: .headers(head))), promise: nil)
        if hasBody {
            let body = HTTP2Frame.FramePayload.Data(data: .byteBuffer(exchange.body), endStream: true)
            context.write(wrapOutboundOut(HTTP2Frame(streamID: streamID, payload: .data(body))), promise: nil)
        }
        allowance.add(bodyOf: exchange.body.readableBytes)
        flushSoon(context)
        if nextStreamID >= Self.lastStreamID { retire(context) }
    }

    /// Begins no new requests, and ends the connection with the last one.
    func retire() {
        if let context { retire(context) }
    }

    /// Ends what is due, and a connection on which nothing at all has come since the request began with it.
    private func expire(_ context: ChannelHandlerContext) {
        timer = nil
        let now = NIODeadline.now()
        if case .opening = state {
            if now >= settingsDeadline { return end(.timedOut, context) }
            return wake(at: settingsDeadline, context)
        }
        var isSilent = false
        for (streamID, stream) in streams where stream.exchange.deadline <= now {
            isSilent = isSilent || lastRead < stream.begunAt
            reset(streamID, .failure(OutboundError.timedOut), context)
        }
        if isSilent { retire(context) }
        if let next = streams.values.lazy.map(\.exchange.deadline).min() { wake(at: next, context) }
    }

    // MARK: Answers

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastRead = .now()
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let head):
            let progress = streams[frame.streamID]?.answer.receive(head.headers, isLast: head.endStream)
            if streams[frame.streamID]?.answer.response != nil {
                allowance.giveBack(head.headers)
            }
            advance(frame.streamID, progress, context)
        case .data(let part):
            guard case .byteBuffer(let bytes) = part.data else { return }
            let progress = streams[frame.streamID]?.answer.receive(bytes, isLast: part.endStream)
            if progress != nil, part.endStream || bytes.readableBytes >= Self.smallestPart {
                allowance.giveBackPart(of: bytes.readableBytes, padding: part.paddingBytes.map { $0 + 1 } ?? 0)
            }
            advance(frame.streamID, progress, context)
        case .rstStream(.refusedStream):
            finish(frame.streamID, .failure(NotProcessed(reason: .refused)), context)
        case .rstStream:
            finish(frame.streamID, .failure(OutboundError.reset), context)
        case .goAway(let lastStreamID, let code, let details):
            leave(lastStreamID, code: code, details: details, context)
        case .settings(.settings(let settings)):
            apply(settings, context)
        default:
            break
        }
    }

    private func advance(_ streamID: HTTP2StreamID, _ progress: HTTP2Answer.Progress?, _ context: ChannelHandlerContext)
    {
        switch progress {
        case .incomplete, nil:
            break
        case .complete:
            guard let stream = streams[streamID], let response = stream.answer.response else { return }
            // Before anybody is granted a stream, by this answer's end or by what it proves.
            stream.exchange.whenAnswered?(response)
            if !hasProvenCredential, response.status != 401, response.status != 403 {
                hasProvenCredential = true
                owner.limitChanged(of: id, to: limit)
            }
            finish(streamID, .success(response), context)
        case .long:
            let response = streams[streamID]?.answer.response
            reset(streamID, response.map { .success($0) } ?? .failure(OutboundError.answerTooLong), context)
        case .malformed:
            reset(streamID, .failure(OutboundError.malformedAnswer), context)
        }
    }

    private func apply(_ settings: HTTP2Settings, _ context: ChannelHandlerContext) {
        let before = limit
        if let setting = settings.last(where: { $0.parameter == .maxConcurrentStreams }) {
            // APNs permits one stream, and the others as soon as it has seen a valid token, whatever becomes of the request.
            if peerLimit <= 1, setting.value > 1, nextStreamID > 1 { hasProvenCredential = true }
            peerLimit = setting.value
        }
        if case .opening(let opened) = state {
            state = .open
            opened.succeed(HTTP2Connection(channel: context.channel, handler: self, initialLimit: limit))
        } else if limit != before {
            owner.limitChanged(of: id, to: limit)
        }
    }

    /// Follows a GOAWAY: what is beyond the last stream was not processed, what was never written neither.
    private func leave(
        _ lastStreamID: HTTP2StreamID,
        code: HTTP2ErrorCode,
        details: ByteBuffer?,
        _ context: ChannelHandlerContext
    ) {
        let details = details.map { Array($0.readableBytesView.prefix(256)) } ?? []
        retire(context, goAway: HTTP2Connection.GoAway(code: code.networkCode, details: details))
        let lastProcessed = min(lastStreamID, lastWritten)
        for streamID in streams.keys where streamID > lastProcessed {
            let isWritten = streamID <= lastWritten
            let refusal = Result<OutboundResponse, any Error>.failure(NotProcessed(reason: .refused))
            if isWritten { finish(streamID, refusal, context) } else { reset(streamID, refusal, context) }
        }
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        wake(at: settingsDeadline, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.connectionClosed, context)
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.connectionClosed, context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOSSLError.uncleanShutdown:
            // Many servers end TLS without saying so; what matters is which answers are missing.
            break
        case let error as NIOHTTP2Errors.StreamError:
            finish(error.streamID, .failure(OutboundError.malformedAnswer), context)
        case is any NIOHTTP2Error where !hasFailed:
            // One stream's error, which ends with a reset of that stream.
            break
        default:
            end(OutboundError(connectionError: error), context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as StreamClosedEvent:
            let isMalformed = streams[event.streamID]?.isMalformed == true
            finish(event.streamID, .failure(isMalformed ? OutboundError.malformedAnswer : .reset), context)
        case let event as NIOHTTP2WindowUpdatedEvent:
            guard event.streamID == .rootStream, let size = event.inboundWindowSize else { return }
            openWindow(from: size, context)
        case is KeepAliveHandler.Retirement:
            retire(context)
        case is FrameAllowanceHandler.Exhausted:
            sendAway(context)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Gives back what answers have used of the connection's window; those of streams are never used up.
    private func openWindow(from size: Int, _ context: ChannelHandlerContext) {
        guard size < Self.windowSize / 2, context.channel.isActive else { return }
        let update = HTTP2Frame.FramePayload.windowUpdate(windowSizeIncrement: Self.windowSize - size)
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: update)), promise: nil)
    }

    /// Ends a connection over which too much came that means nothing: what is on its way has got no answer in time.
    private func sendAway(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: .rootStream,
            errorCode: .enhanceYourCalm,
            opaqueData: nil
        )
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
        owner.sentAway(id)
        end(.timedOut, context)
    }

    private func retire(_ context: ChannelHandlerContext, goAway: HTTP2Connection.GoAway? = nil) {
        switch state {
        case .opening(let opened):
            state = .retired
            opened.fail(OutboundError.connectionClosed)
        case .open:
            state = .retired
            owner.retired(id, goAway: goAway)
        case .retired, .ended:
            return
        }
        closeIfDone(context)
    }

    private func end(_ reason: OutboundError, _ context: ChannelHandlerContext) {
        switch state {
        case .opening(let opened):
            state = .ended(reason)
            opened.fail(reason)
        case .open:
            state = .ended(reason)
            owner.retired(id, goAway: nil)
        case .retired:
            state = .ended(reason)
        case .ended:
            return
        }
        timer?.task.cancel()
        for streamID in streams.keys {
            let isWritten = streamID <= lastWritten
            finish(streamID, .failure(isWritten ? reason : NotProcessed(reason: reason)), context)
        }
        context.channel.closeUnread()
    }

    // MARK: Ending requests

    private func reset(
        _ streamID: HTTP2StreamID,
        _ result: Result<OutboundResponse, any Error>,
        _ context: ChannelHandlerContext
    ) {
        // Not before the table: the event that the stream has closed follows at once.
        guard let stream = streams.removeValue(forKey: streamID) else { return }
        allowance.addRest()
        context.writeAndFlush(
            wrapOutboundOut(HTTP2Frame(streamID: streamID, payload: .rstStream(.cancel))),
            promise: nil
        )
        resume(stream.exchange, stream.continuation, result)
        closeIfDone(context)
    }

    private func finish(
        _ streamID: HTTP2StreamID,
        _ result: Result<OutboundResponse, any Error>,
        _ context: ChannelHandlerContext
    ) {
        guard let stream = streams.removeValue(forKey: streamID) else { return }
        resume(stream.exchange, stream.continuation, result)
        closeIfDone(context)
    }

    private func resume(
        _ exchange: HTTP2Exchange,
        _ continuation: CheckedContinuation<OutboundResponse, any Error>,
        _ result: Result<OutboundResponse, any Error>
    ) {
        owner.requestEnded(on: id, of: exchange.lane)
        continuation.resume(with: result)
    }

    private func closeIfDone(_ context: ChannelHandlerContext) {
        guard case .retired = state, streams.isEmpty else { return }
        timer?.task.cancel()
        context.channel.close(promise: nil)
    }

    // MARK: Time and flushing

    private func wake(at deadline: NIODeadline, _ context: ChannelHandlerContext) {
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.expire(context) }
        timer = (deadline, task)
    }

    /// Flushes once for all requests that are begun in the same turn of the event loop.
    private func flushSoon(_ context: ChannelHandlerContext) {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        context.eventLoop.assumeIsolated().execute {
            self.isFlushScheduled = false
            context.flush()
        }
    }
}

extension HTTP2ConnectionHandler: NIOHTTP2FrameDelegate {
    /// Streams are opened in the order of their identifiers, so that the last one tells which requests have been written.
    func wroteFrame(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .headers: lastWritten = max(lastWritten, frame.streamID)
        // Sent by the protocol's own handler when the connection has failed, with the error right behind it.
        case .goAway: hasFailed = true
        // Our own are all of one kind.
        case .rstStream(let code) where code != .cancel: streams[frame.streamID]?.isMalformed = true
        default: break
        }
    }
}
