import HTTPTypes
import Hummingbird

/// Tells browsers which pages may call, before they do and in answers (Fetch standard, section 3.3).
///
/// Only of what the apps of users ask themselves: their own settings, devices and tags, and the faces that browsers call (FACES A5).
/// No cookies are involved: a page that may call still needs credentials of its own, which it sends in `Authorization`.
struct CORSPolicy: Sendable {
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
    /// Those whose callers are pages, too.
    let faces: [any Face]

    /// The answer to a browser that asks whether a page may call; `nil` for whatever is no such question.
    func preflight(_ request: Request) -> Response? {
        guard request.method == .options, request.headers[.accessControlRequestMethod] != nil, isForPages(request),
            let allowed = allowedOrigin(request)
        else { return nil }
        var response = Response.noContent
        response.headers[.accessControlAllowOrigin] = allowed
        response.headers[.accessControlAllowMethods] = Self.methods
        response.headers[.accessControlAllowHeaders] = allowedHeaders(request)
        response.headers[.accessControlMaxAge] = Self.maximumAge
        addVary(to: &response)
        return response
    }

    /// Says in an answer which page may read it.
    func mark(_ response: inout Response, to request: Request) {
        guard isForPages(request) else { return }
        if let allowed = allowedOrigin(request) {
            response.headers[.accessControlAllowOrigin] = allowed
            response.headers[.accessControlExposeHeaders] = Self.answerHeaders
        }
        addVary(to: &response)
    }

    private func allowedOrigin(_ request: Request) -> String? { request.headers[.origin].flatMap(origins.allowed) }

    /// Whether pages may ask for it: `/v1/networks/{network}/users/me`, `…/devices`, and all below them; the key that browsers
    /// subscribe with; and the user's own place and that of devices among the subscribers of a tag.
    private func isForPages(_ request: Request) -> Bool {
        guard origins != .named([]) else { return false }
        let path = request.uri.path
        if faces.contains(where: { $0.owns(path) }) { return true }
        let parts = path.split(separator: "/", maxSplits: 7)
        guard parts.count > 3, parts[0] == "v1", parts[1] == "networks" else { return false }
        let (kind, rest) = (parts[3], parts[4...])
        return switch kind {
        case "devices": true
        case "users": rest.first == "me"
        case "providers": rest == ["webpush", "key"]
        case "tags": rest.count == 3 && (rest.dropFirst() == ["users", "me"] || rest.dropFirst().first == "devices")
        default: false
        }
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
        guard case .named = origins else { return }
        response.headers.append(HTTPField(name: .vary, value: "origin"))
    }
}
