import CarillonCore
import HTTPTypes
import Hummingbird
import Logging

/// Writes one line for each answer: route, never path, query or body, which name people and may hold secrets.
///
/// Successes are `debug`, what callers did wrong is `info`, and what we did wrong is `error`.
struct AccessLogMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        let level: Logger.Level =
            switch response.status.code {
            case ..<400: .debug
            case ..<500: .info
            default: .error
            }
        context.logger.log(
            level: level,
            "Request answered",
            metadata: [
                "http.method": "\(request.method.rawValue)",
                "http.route": "\(context.routeTemplate)",
                "http.status": "\(response.status.code)",
                "duration.ms": "\((ContinuousClock.now - start).wholeMilliseconds)",
                "network": "\(context.parameters.get("network") ?? "")",
                "client.address": "\(context.clientAddress?.description ?? "")",
            ]
        )
        return response
    }
}

extension CarillonRequestContext {
    /// The route with its placeholders, such as `/v1/networks/{network}/events`; `none` for unknown paths.
    var routeTemplate: String {
        guard let path = endpointPath, path.first == "/" else { return "none" }
        return path
    }
}
