import CarillonCore
import NIOCore
import NIOHTTP1

/// Keeps a connection within its times, and what is said on it within HTTP/1.1 (RFC 9110, RFC 9112).
///
/// Stands between the decoder and what knows HTTP only as requests and answers. A caller who is waited for has a deadline:
/// ten seconds for a whole head, twenty between an answer and the next request (trusted proxies 620) and for fetching an answer. How long a body
/// may take is ``RequestDeadlineHandler``'s business, and how long the service may take everybody else's.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a caller who is still sending has to read the last answer before a reset could take it away.
    private static let lingering = TimeAmount.seconds(2)

    private let connections: InboundConnections
    private let settings: ServerSettings
    private let refusals: RefusalWriter
    private var id: ConnectionSlots.ID?
    private var isOfProxy = false

    /// When the connection is closed; `nil` while nobody waits for the caller.
    private var deadline: NIODeadline?
    /// What the deadline is for, if missing it is worth counting.
    private var deadlineCut: InboundConnections.Cut?
    private var timer: (task: Scheduled<Void>, due: NIODeadline)?

    /// Requests that were passed on and whose answers have not ended.
    private var owed = 0
    /// Answers that have ended, but are not on their way yet.
    private var unsent = 0
    /// Whether a head was passed on whose body has not ended.
    private var isReceiving = false
    /// Whether that head came in this moment, and its body may still come, too.
    private var isBodyDue = false
    /// Whether nothing of the next request is there.
    private var isIdle = false
    /// Whether nothing of it will be there when what has just arrived is decoded: the rest belongs to a request that was answered before.
    private var isIdleNext = false
    private var isAnswering = false
    /// Whether the connection ends with the answer to the last request that was passed on.
    private var isLast = false
    /// Whether that request was HTTP/1.0.
    private var isLastOld = false
    /// Whether its caller waits to be told to go on.
    private var isContinueDue = false
    /// What is to be said before the connection ends.
    private var refusal: Refusal?
    private var isOver = false

    init(connections: InboundConnections, settings: ServerSettings, refusals: RefusalWriter) {
        self.connections = connections
        self.settings = settings
        self.refusals = refusals
    }

    // MARK: Opening and closing

    func channelActive(context: ChannelHandlerContext) {
        guard let opened = connections.open(context.channel) else {
            context.close(promise: nil)
            return
        }
        (id, isOfProxy) = opened
        wait(settings.headTimeout, else: .head, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    private func end() {
        timer?.task.cancel()
        timer = nil
        if let id { connections.closed(id) }
        id = nil
    }

    // MARK: What arrives

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var (part, data) = (unwrapInboundIn(data), data)
        if let bounded = part.boundingMarks { (part, data) = (bounded, wrapInboundOut(bounded)) }
        if case .end = part, isReceiving {
            isReceiving = false
            isBodyDue = false
            context.fireChannelRead(data)
            guard owed == 0 else {
                work(context)
                return
            }
            context.fireUserInboundEventTriggered(RequestDeadlineHandler.RequestOver())
            // Its answer has still to be fetched.
            guard unsent == 0 else { return }
            if isLast {
                finish(context)
            } else {
                wait(idleTimeout, else: nil, context)
                isIdleNext = true
            }
            return
        }
        if isReceiving {
            context.fireChannelRead(data)
            return
        }
        guard case .head(let head) = part, !isLast, refusal == nil, !isOver else { return }
        if let refusal = Refusal(of: head) {
            refuse(refusal, context)
            return
        }
        owed += 1
        isReceiving = true
        isBodyDue = true
        isIdle = false
        isIdleNext = false
        isLastOld = head.isOld
        isLast = isLastOld || !head.isKeepAlive || head.asksForUpgrade
        isContinueDue = head.expectsContinue
        // Answers that are not fetched keep theirs, whatever arrives.
        if context.channel.isWritable { deadline = nil }
        sayContinue(context)
        context.fireChannelRead(data)
    }

    /// Bytes have arrived and were decoded as far as they go.
    func channelReadComplete(context: ChannelHandlerContext) {
        if isBodyDue {
            // It waits anew, for the body.
            isBodyDue = false
            if let id { connections.waits(id) }
        } else if isIdle {
            wait(settings.headTimeout, else: .head, context)
        } else if isIdleNext {
            isIdleNext = false
            isIdle = true
        }
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError where isReceiving && owed > 0:
            // Whoever reads the body says so.
            isLast = true
            context.fireErrorCaught(error)
        case is HTTPParserError where isReceiving:
            // Its answer was given.
            if !isOver { finish(context) }
        case let error as HTTPParserError:
            if !isLast, refusal == nil, !isOver { refuse(Refusal(error), context) }
        case is ByteToMessageDecoderError:
            // What comes after bytes that could not be decoded.
            break
        default:
            context.fireErrorCaught(error)
        }
    }

    // MARK: What is answered

    /// Answers pile up, or were fetched: those behind wait for that before they go on.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !context.channel.isWritable {
            wait(settings.idleTimeout, else: .answer, context)
        } else if owed > 0, !isAnswering, !isReceiving {
            work(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard owed > 0 else {
            // The answer to this request was given already.
            promise?.fail(ChannelError.operationUnsupported)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.code < 200:
            context.write(data, promise: promise)
        case .head(var head):
            isAnswering = true
            if owed == 1 { isContinueDue = false }
            if let id { connections.waits(id) }
            wait(settings.idleTimeout, else: .answer, context)
            if !head.isKeepAlive { isLast = true }
            if isLast, owed == 1 {
                head.headers.replaceOrAdd(name: "connection", value: "close")
                if isLastOld { head.version = .http1_0 }
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            wait(settings.idleTimeout, else: .answer, context)
            context.write(data, promise: promise)
        case .end:
            isAnswering = false
            owed -= 1
            unsent += 1
            let sent = promise ?? context.eventLoop.makePromise()
            sent.futureResult.assumeIsolated().whenComplete { _ in self.answered(context) }
            context.write(data, promise: sent)
        }
    }

    private func answered(_ context: ChannelHandlerContext) {
        unsent -= 1
        guard owed == 0 else {
            // The next request has arrived already, and its caller is not waited for.
            if !isAnswering, !isReceiving { work(context) }
            sayContinue(context)
            return
        }
        guard unsent == 0, !isOver, id != nil else { return }
        if let refusal {
            say(refusal, context)
        } else if isLast {
            finish(context)
        } else {
            wait(idleTimeout, else: nil, context)
            isIdle = !isReceiving
        }
    }

    /// A proxy that still owes the rest of a body is waited for no longer than others.
    private var idleTimeout: TimeAmount {
        isOfProxy && !isReceiving ? settings.proxyIdleTimeout : settings.idleTimeout
    }

    private func sayContinue(_ context: ChannelHandlerContext) {
        guard isContinueDue, owed == 1, unsent == 0, !isAnswering else { return }
        isContinueDue = false
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    // MARK: The end

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ConnectionDisplaced:
            connections.cut(.displaced)
            if owed > 0, !isReceiving, !isAnswering {
                isLast = true
            } else {
                context.close(promise: nil)
            }
        case is ChannelShouldQuiesceEvent:
            // What is owed goes out whole, and says that nothing comes behind it: who knows no better would send the next request.
            if owed > 0 || unsent > 0 {
                isLast = true
            } else if !isOver {
                finish(context)
            }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard case RequestDeadlineHandler.Mode.sincePart? = event as? RequestDeadlineHandler.Mode else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        // Whoever may upload has shown credentials.
        isBodyDue = false
        if let id { connections.works(id) }
        promise?.succeed()
    }

    private func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        self.refusal = refusal
        deadline = nil
        if owed == 0, unsent == 0 { say(refusal, context) }
    }

    private func say(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        connections.cut(.malformed)
        refusals.write(refusal, to: context)
        finish(context, lingers: true)
    }

    /// Nothing more is said. A caller who may still be sending gets time to read what was.
    private func finish(_ context: ChannelHandlerContext, lingers: Bool = false) {
        isOver = true
        guard lingers || isReceiving else {
            context.close(promise: nil)
            return
        }
        context.close(mode: .output, promise: nil)
        wait(Self.lingering, else: nil, context)
    }

    // MARK: Time

    /// The caller has so long for whatever comes next.
    private func wait(_ time: TimeAmount, else cut: InboundConnections.Cut?, _ context: ChannelHandlerContext) {
        let due = context.eventLoop.now + time
        deadline = due
        deadlineCut = cut
        isIdle = false
        // A timer that is due earlier finds the later deadline by itself.
        if let timer, timer.due <= due { return }
        schedule(due, context)
    }

    /// The caller has done its part, unless there are answers to be fetched.
    private func work(_ context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return }
        deadline = nil
        deadlineCut = nil
        if let id { connections.works(id) }
    }

    private func schedule(_ due: NIODeadline, _ context: ChannelHandlerContext) {
        timer?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.isDue(context) }
        timer = (task, due)
    }

    private func isDue(_ context: ChannelHandlerContext) {
        timer = nil
        guard let deadline else { return }
        if deadline > context.eventLoop.now {
            schedule(deadline, context)
        } else {
            if let deadlineCut { connections.cut(deadlineCut) }
            context.close(promise: nil)
        }
    }
}

extension HTTPServerRequestPart {
    /// A head with bounded runs of combining marks in its fields, which are looked at before anybody knows who sent them or how long they are;
    /// `nil` where there are none.
    fileprivate var boundingMarks: Self? {
        guard case .head(var head) = self, head.headers.contains(where: { !$0.value.isASCII }) else { return nil }
        head.headers = HTTPHeaders(head.headers.map { ($0.name, $0.value.withBoundedMarks) })
        return .head(head)
    }
}

extension HTTPRequestHead {
    /// Whether its sender knows no more than HTTP/1.0.
    var isOld: Bool { version.major == 1 && version.minor == 0 }

    /// Whether its sender would rather speak another protocol (RFC 9110 sections 7.8 and 9.3.6). It is answered in this one, but nothing
    /// behind it is decoded: that might be the other one.
    fileprivate var asksForUpgrade: Bool {
        if method == .CONNECT { return true }
        return headers.contains(name: "upgrade")
            && headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
    }

    /// Whether its sender waits to be told to send the body (RFC 9110 section 10.1.1).
    fileprivate var expectsContinue: Bool {
        !isOld && headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
    }
}
