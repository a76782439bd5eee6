import HTTPTypes
import Hummingbird
import Logging

/// Turns every error into a problem (RFC 9457).
struct ProblemMiddleware: RouterMiddleware {
    let mapping: ProblemMapping
    let routes: RouteTable

    func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            return problem(for: error, request, context).response
        }
    }

    private func problem(for error: any Error, _ request: Request, _ context: CarillonRequestContext) -> Problem {
        // Hummingbird's own error: the path is unknown, or only the method is.
        if let error = error as? HTTPError, error.status == .notFound {
            let allowed = routes.methods(for: request.uri.path)
            return allowed.isEmpty ? .notFound() : .methodNotAllowed(allowed)
        }
        if let problem = mapping.problem(for: error) {
            if problem.status == .serviceUnavailable {
                context.logger.warning("Request could not be served", metadata: ["error": "\(error)"])
            }
            return problem
        }
        context.logger.error(
            "Request failed for a reason that nobody foresaw",
            metadata: ["error.type": "\(type(of: error))", "error": "\(error)"]
        )
        return .internalError
    }
}
