import CarillonCore
import HTTPTypes
import Hummingbird
import Logging

/// Writes down at `notice` which admin changed what, and from where callers were refused with 401 or 403.
///
/// Names keys by their ids, and no secret, body or path. What a flood of either would write is counted instead.
struct AuditLog: Sendable {
    private let log = RequestLog(.init(ofStrangers: 20, ofNetwork: 100, window: .seconds(10)))

    /// Writes what an answer is worth writing down for.
    func note(_ request: Request, answered status: HTTPResponse.Status, _ context: CarillonRequestContext) {
        switch status.code {
        case 401, 403:
            var metadata = context.description(of: request, answered: status)
            metadata["reason"] = context.caller.refusal.map { "\($0)" }
            log.write("A caller was refused", at: .notice, status: status, context, metadata)
        case ..<400:
            guard let admin = context.caller.admin, context.isConfiguration(request.method) else { break }
            var metadata = context.description(of: request, answered: status)
            metadata["admin"] = "\(admin)"
            log.write("An admin made a change", at: .notice, status: status, context, metadata)
        default: break
        }
    }
}

extension CarillonRequestContext {
    /// What of a network is data that comes and goes all day, as far as admins write it.
    private static let dataRoutes = ["events", "notifications", "users", "channels", "devices", "explain"]

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
