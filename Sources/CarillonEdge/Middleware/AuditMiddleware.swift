import CarillonCore
import HTTPTypes
import Hummingbird
import Logging

/// Writes down at `notice` which admin changed what, and from where callers were refused with 401 or 403.
///
/// Names keys by their ids, and no secret, body or path. What a flood of either would write is counted instead.
struct AuditMiddleware: RouterMiddleware {
    private let changes = LineAllowance(lines: 100, within: .seconds(10))
    private let refusals = LineAllowance(lines: 20, within: .seconds(10))

    func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        let response = try await next(request, context)
        switch response.status.code {
        case 401, 403:
            log("A caller was refused", refusals, request, response, context)
        case ..<400:
            guard let admin = context.admin.admin, context.isConfiguration(request.method) else { break }
            log("An admin made a change", changes, request, response, context, ["admin": "\(admin)"])
        default: break
        }
        return response
    }

    private func log(
        _ message: Logger.Message,
        _ allowance: LineAllowance,
        _ request: Request,
        _ response: Response,
        _ context: CarillonRequestContext,
        _ more: Logger.Metadata = [:]
    ) {
        let logger = context.logger
        switch allowance.take() {
        case .write:
            var metadata: Logger.Metadata = [
                "http.method": "\(request.method.rawValue)",
                "http.route": "\(context.routeTemplate)",
                "http.status": "\(response.status.code)",
                "network": "\(context.parameters.get("network") ?? "")",
                "client.address": "\(context.clientAddress.map { "\($0)" } ?? "unknown")",
            ]
            metadata.merge(more) { _, new in new }
            logger.notice(message, metadata: metadata)
        case .omitFirst:
            let same = message.description
            Task {
                try? await Task.sleep(for: allowance.window)
                logger.notice(
                    "More of the same was not logged",
                    metadata: [
                        "same": "\(same)", "count": "\(allowance.takeOmitted())",
                    ]
                )
            }
        case .omit: break
        }
    }
}

extension CarillonRequestContext {
    /// What of a network is data that comes and goes all day, as far as admins write it.
    private static let dataRoutes = ["events", "users", "channels", "devices", "explain"]

    /// Whether a request changes how a network is set up: not its directory, and not what only asks.
    fileprivate func isConfiguration(_ method: HTTPRequest.Method) -> Bool {
        guard [.post, .put, .patch, .delete].contains(method) else { return false }
        let segments = routeTemplate.split(separator: "/")
        guard segments.count > 3 else { return true }
        if segments.last == "preview" { return false }
        // A tag is set-up, who subscribes to it is data.
        if segments[3] == "tags", segments.count > 5 { return false }
        return segments.last == "restore" || !Self.dataRoutes.contains(String(segments[3]))
    }
}
