import NIOCore
import NIOHTTP2

/// Looks after a connection without traffic: asks the server whether it is still there, and ends it when it is idle for
/// too long or old.
///
/// Whatever the server sends is a sign of life, but only requests count as use. They end long before
/// ``ConnectionPolicy/idleLimit``, so that an idle connection carries none.
final class KeepAliveHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// The connection is old, or idle: it is to take no new requests, and to end with the last one.
    struct Retirement {}

    private let idleLimit: TimeAmount
    private let pingInterval: TimeAmount
    private let pongLimit: TimeAmount
    private let maximumAge: TimeAmount?
    private var retiresAt: NIODeadline?
    private var lastRequest = NIODeadline.distantPast
    private var lastTraffic = NIODeadline.distantPast
    private var pingedAt: NIODeadline?
    private var timer: Scheduled<Void>?

    init(_ policy: ConnectionPolicy) {
        idleLimit = TimeAmount(policy.idleLimit)
        pingInterval = TimeAmount(policy.pingInterval)
        pongLimit = TimeAmount(policy.pongLimit)
        maximumAge = policy.maximumAge.map { TimeAmount($0) }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        lastRequest = context.eventLoop.now
        lastTraffic = lastRequest
        retiresAt = maximumAge.map { context.eventLoop.now + $0 }
        wait(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastTraffic = context.eventLoop.now
        pingedAt = nil
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        lastRequest = context.eventLoop.now
        lastTraffic = lastRequest
        context.write(data, promise: promise)
    }

    /// Sleeps until the next moment at which there could be something to do.
    private func wait(_ context: ChannelHandlerContext) {
        var next = min(lastRequest + idleLimit, pingedAt.map { $0 + pongLimit } ?? lastTraffic + pingInterval)
        if let retiresAt { next = min(next, retiresAt) }
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: next) { self.look(context) }
    }

    private func look(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        let now = context.eventLoop.now
        if let pingedAt, now >= pingedAt + pongLimit {
            context.fireErrorCaught(OutboundError.timedOut)
            return context.close(promise: nil)
        }
        if let end = retiresAt, now >= end {
            retiresAt = nil
            context.fireUserInboundEventTriggered(Retirement())
        }
        if now >= lastRequest + idleLimit {
            // Closed from here, it would be given requests until the other side has said goodbye.
            context.fireUserInboundEventTriggered(Retirement())
            return
        }
        if pingedAt == nil, now >= lastTraffic + pingInterval {
            pingedAt = now
            let ping = HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: 0), ack: false))
            context.writeAndFlush(wrapOutboundOut(ping), promise: nil)
        }
        wait(context)
    }
}
