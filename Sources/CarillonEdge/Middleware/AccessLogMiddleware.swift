import CarillonCore
import HTTPTypes
import Hummingbird
import Logging

/// Writes one line for each answer, as far as its caller's share of the log goes.
///
/// Successes are `debug`, what callers did wrong is `info`, and what we did wrong is `error`; answers about health are `debug`, whatever they say.
struct AccessLogMiddleware: RouterMiddleware {
    let log: RequestLog

    func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        let level: Logger.Level =
            switch response.status.code {
            // Asked for every few seconds by whoever watches, and answered by what was logged when it began.
            case _ where context.routeTemplate.hasPrefix("/health/"): .debug
            case ..<400: .debug
            case ..<500: .info
            default: .error
            }
        let duration = ContinuousClock.now - (context.caller.since ?? start)
        log.write(
            "Request answered",
            at: level,
            status: response.status,
            context,
            context.description(of: request, answered: response.status)
                .merging(["duration.ms": "\(duration.wholeMilliseconds)"]) { $1 }
        )
        return response
    }
}
