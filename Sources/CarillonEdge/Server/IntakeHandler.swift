import DequeModule
import NIOCore
import NIOHTTP1

/// Has requests answered on their event loop that are whole in the moment in which they arrive, as far as a ``RequestIntake`` takes them.
///
/// Stands between ``ConnectionHandler`` and what gives each request a task. All other requests are handed on as they came, and answers keep
/// their order: nothing is taken as long as somebody else owes an answer, and what comes behind a request that was taken waits.
final class IntakeHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Arrival {
        case part(HTTPServerRequestPart)
        /// What came next could not be read.
        case error(any Error)
    }

    private let intakes: [any RequestIntake]
    private let failures: FailedRequests

    /// What may be whole in a moment, and whose it is then.
    private var held: ArrivedRequest?
    private var intake: (any RequestIntake)?
    /// What the intake has in hand.
    private var taken: ArrivedRequest?
    /// What arrived behind that.
    private var waiting: Deque<Arrival> = []
    private var isReadDue = false
    /// What those behind would close the connection for, who know nothing of an answer that is due.
    private var events: [Any] = []
    /// Answers of the intake that are not on their way yet.
    private var unsent = 0
    /// Requests that were handed on and whose answers have not ended.
    private var owed = 0
    private var hasFailed = false

    init(_ intakes: [any RequestIntake], failures: FailedRequests) {
        self.intakes = intakes
        self.failures = failures
    }

    // MARK: What arrives

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if taken == nil { receive(part, context) } else { waiting.append(.part(part)) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if taken == nil { fail(error, context) } else { waiting.append(.error(error)) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        handOnHeld(context)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if waiting.isEmpty { context.read() } else { isReadDue = true }
    }

    private func receive(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            // Whoever fetches no answers is dealt with by those behind, who wait for that.
            if owed == 0, events.isEmpty, context.channel.isWritable,
                let intake = intakes.first(where: { $0.mayTake(head) })
            {
                self.intake = intake
                held = ArrivedRequest(head: head, remoteAddress: context.remoteAddress)
            } else {
                owed += 1
                context.fireChannelRead(wrapInboundOut(part))
            }
        case .body(var bytes):
            guard held != nil else { return context.fireChannelRead(wrapInboundOut(part)) }
            if held?.body.readableBytes == 0 { held?.body = bytes } else { held?.body.writeBuffer(&bytes) }
        case .end:
            guard let request = held else { return context.fireChannelRead(wrapInboundOut(part)) }
            held = nil
            taken = request
            if let intake, intake.take(request, reply: { self.reply($0, context) }) { return }
            taken = nil
            handOn(request, context)
            context.fireChannelRead(wrapInboundOut(part))
        }
    }

    /// Hands on a request but for its end.
    private func handOn(_ request: ArrivedRequest, _ context: ChannelHandlerContext) {
        owed += 1
        context.fireChannelRead(wrapInboundOut(.head(request.head)))
        if request.body.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(request.body))) }
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        handOnHeld(context)
        context.fireErrorCaught(error)
    }

    private func handOnHeld(_ context: ChannelHandlerContext) {
        guard let request = held else { return }
        held = nil
        handOn(request, context)
    }

    // MARK: What is answered

    private func reply(_ reply: IntakeReply, _ context: ChannelHandlerContext) {
        guard let request = taken else { return }
        taken = nil
        switch reply {
        case .answer(let head, let body):
            unsent += 1
            let sent = context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.assumeIsolated().whenComplete { _ in
                self.unsent -= 1
                self.fireEvents(context)
            }
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
        case .handOn(let failure, let giveBack):
            giveBack()
            if let failure { failures.note(failure, on: context.channel) }
            hasFailed = failure != nil
            handOn(request, context)
            context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
        goOn(context)
    }

    private func goOn(_ context: ChannelHandlerContext) {
        while taken == nil, let arrival = waiting.popFirst() {
            switch arrival {
            case .part(let part): receive(part, context)
            case .error(let error): fail(error, context)
            }
        }
        guard taken == nil else { return }
        handOnHeld(context)
        context.fireChannelReadComplete()
        fireEvents(context)
        guard isReadDue else { return }
        isReadDue = false
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            owed = max(0, owed - 1)
            forgetFailure(context)
        }
        context.write(data, promise: promise)
    }

    private func forgetFailure(_ context: ChannelHandlerContext) {
        guard hasFailed else { return }
        hasFailed = false
        _ = failures.take(context.channel)
    }

    // MARK: The end

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        handOnHeld(context)
        if event as? ChannelEvent == .inputClosed, taken != nil || unsent > 0 {
            events.append(event)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func fireEvents(_ context: ChannelHandlerContext) {
        guard taken == nil, unsent == 0 else { return }
        let events = events
        self.events = []
        for event in events { context.fireUserInboundEventTriggered(event) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        (held, taken) = (nil, nil)
        waiting = []
        forgetFailure(context)
        context.fireChannelInactive()
    }
}
