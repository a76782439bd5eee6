import HTTPTypes
import Hummingbird

/// Which web pages may call the API from a browser (API section 14, `CARILLON_CORS_ORIGINS`).
package enum CORSOrigins: Hashable, Sendable {
    /// Pages of these origins, such as `https://chat.example`; none by default.
    case named(Set<String>)
    /// All pages.
    case all

    /// What `Access-Control-Allow-Origin` answers to a page; `nil` when it may not call.
    func allowed(_ origin: String) -> String? {
        switch self {
        case .named(let origins): origins.contains(origin) ? origin : nil
        case .all: "*"
        }
    }
}

/// Tells browsers which pages may call, before they do and in answers (Fetch standard, section 3.3).
///
/// No cookies are involved: a page that may call still needs credentials of its own, which it sends in `Authorization`.
struct CORSMiddleware: RouterMiddleware {
    /// For how long a browser need not ask again; longer is cut by all of them.
    private static let maximumAge = "7200"
    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE"
    private static let requestHeaders =
        "authorization, content-type, if-match, if-none-match, idempotency-key, x-request-id"
    private static let answerHeaders =
        "etag, idempotency-replayed, link, location, retry-after, x-ably-errorcode, x-ably-errormessage, x-request-id"
    /// Headers of another system's clients, of which there are many.
    private static let foreignPrefixes = ["ably-", "x-ably-"]

    let origins: CORSOrigins

    func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        guard let origin = request.headers[.origin], let allowed = origins.allowed(origin) else {
            var response = try await next(request, context)
            addVary(to: &response)
            return response
        }
        if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            var response = Response.noContent
            response.headers[.accessControlAllowOrigin] = allowed
            response.headers[.accessControlAllowMethods] = Self.methods
            response.headers[.accessControlAllowHeaders] = allowedHeaders(request)
            response.headers[.accessControlMaxAge] = Self.maximumAge
            addVary(to: &response)
            return response
        }
        var response = try await next(request, context)
        response.headers[.accessControlAllowOrigin] = allowed
        response.headers[.accessControlExposeHeaders] = Self.answerHeaders
        addVary(to: &response)
        return response
    }

    /// What the page may send: of what it asks for also what other systems' clients send.
    private func allowedHeaders(_ request: Request) -> String {
        let asked = (request.headers[.accessControlRequestHeaders] ?? "").lowercased().split(separator: ",")
            .map { String($0.filter { !$0.isWhitespace }) }
        let foreign = asked.filter { name in
            Self.foreignPrefixes.contains { name.hasPrefix($0) } && HTTPField.Name(name) != nil
        }
        return ([Self.requestHeaders] + foreign).joined(separator: ", ")
    }

    /// Caches must not give one page's answer to another, once answers differ.
    private func addVary(to response: inout Response) {
        guard case .named(let origins) = origins, !origins.isEmpty else { return }
        response.headers.append(HTTPField(name: .vary, value: "origin"))
    }
}
