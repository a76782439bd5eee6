import CarillonCore
import HTTPTypes
import Hummingbird
import Logging

/// Turns every error into a problem (RFC 9457), and has the database's work for a request end in time.
struct ProblemWriter: Sendable {
    let log: RequestLog
    let mapping: ProblemMapping
    let routes: RouteTable
    /// How long the database may work for one request.
    let workLimit: Duration

    /// What a request is answered, or the error that it fails with; a face tells its callers of errors in a way of its own.
    func answer(
        _ request: Request,
        _ context: CarillonRequestContext,
        of face: (any Face)?,
        _ respond: (Request, CarillonRequestContext) async throws -> Response
    ) async -> Response {
        let work = UnitOfWork(within: workLimit)
        do {
            return try await UnitOfWork.$current.withValue(work) { try await respond(request, context) }
        } catch {
            var problem = problem(for: error, request, context)
            if problem.status == .serviceUnavailable {
                // What a safe method does besides is nothing that its caller asked for (RFC 9110 section 9.2.1).
                let isSafe = [.get, .head, .options].contains(request.method)
                let isUnknown = !isSafe && (work.mayHaveWritten || error.isOutcomeUnknown)
                // Whoever asks whether we are ready has asked for no change.
                if problem.name != "not-ready" { problem.outcome = isUnknown ? .unknown : .nothingChanged }
            }
            if [.unauthorized, .forbidden].contains(problem.status), let detail = problem.detail {
                context.caller.note(refusal: detail)
            }
            guard let face else { return problem.response }
            if context.face.current.reason == nil { context.face.note(reason: problem.detail ?? problem.title) }
            return face.answer(to: error, problem, request)
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
                log.write(
                    "Request could not be served",
                    at: problem.name == "not-ready" ? .debug : .warning,
                    status: problem.status,
                    context,
                    ["error": "\(error)"]
                )
            }
            return problem
        }
        log.write(
            "Request failed for a reason that nobody foresaw",
            at: .error,
            status: .internalServerError,
            context,
            ["error.type": "\(type(of: error))", "error": "\(error)"]
        )
        return .internalError
    }
}
