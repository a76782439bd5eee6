import CarillonCore
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// What every request passes on its way in, and every answer on its way out. Nothing goes further than this but answers.
struct EdgeMiddleware: RouterMiddleware {
    let proxies: TrustedProxies
    let metrics: RequestMetrics
    let log: RequestLog
    let cors: CORSPolicy
    let audit = AuditLog()
    let faces: [any Face]
    let faceLog: FaceLog
    let problems: ProblemWriter
    let limits: HeadLimits
    let ids = UUIDv7Generator()

    func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        context.requestID = RequestID.accepted(request.headers[.requestID]) ?? ids.next().canonicalText
        context.logger[metadataKey: "request.id"] = .string(context.requestID)
        locate(&context, request)
        var response: Response
        // Two headers are read as one value, which names no trace.
        if let trace = request.headers[.traceparent].flatMap(TraceContext.init) {
            context.logger[metadataKey: TraceContext.metadataKey] = .string(trace.traceID)
            response = await TraceContext.$current.withValue(trace) { [context] in
                await answer(request, context, next)
            }
        } else {
            response = await answer(request, context, next)
        }
        let duration = ContinuousClock.now - (context.caller.since ?? start)
        log.answered(request, response.status, context, after: duration)
        metrics.answered(context.routeTemplate, request.method, response.status.code, after: duration)
        response.headers[.requestID] = context.requestID
        // Where there is a route the router has done so; the body of a problem would be taken for the next answer.
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(_ request: Request, _ context: CarillonRequestContext, _ next: Next) async -> Response {
        if let preflight = cors.preflight(request) { return preflight }
        let face = faces.first { $0.owns(request.uri.path) }
        var response = await problems.answer(request, context, of: face) { request, context in
            try limits.check(request, of: face)
            return try await next(request, context)
        }
        if let face { faceLog.note(face, answered: response.status, context) }
        audit.note(request, answered: response.status, context)
        cors.mark(&response, to: request)
        return response
    }

    /// Finds out from whom a request is, and how it came, for limits and for the log.
    private func locate(_ context: inout CarillonRequestContext, _ request: Request) {
        guard let peer = context.channel.remoteAddress.flatMap(IPAddress.init) else { return }
        context.clientAddress = proxies.client(of: peer, request.headers)
        context.isOverTLS = proxies.heardOverTLS(from: peer, request.headers) ?? false
        context.isConfidential = proxies.areConfidential(peer, request.headers)
    }
}

extension IPAddress {
    /// The address of a socket, without its port and zone; `nil` when it is none of the Internet's.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(String(text.prefix { $0 != "%" }))
    }
}
