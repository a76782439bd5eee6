import CarillonEdge
import HTTPTypes
import Hummingbird

/// The admin console: files and nothing else. What they show comes from the API, with the reader's own key.
///
/// It is no route, because its pages have any addresses below `/console`.
struct ConsoleMiddleware: RouterMiddleware {
    static let root = "/console"
    private static let securityPolicy: HTTPFields = [
        .contentSecurityPolicy:
            "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        .xContentTypeOptions: "nosniff",
        .known("referrer-policy"): "no-referrer",
    ]

    let files: ConsoleFiles

    func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        let path = request.uri.path
        if path == "/", [.get, .head].contains(request.method), Self.isFromBrowser(request) {
            return Response(status: .seeOther, headers: [.location: Self.root, .vary: "Accept"])
        }
        guard path == Self.root || path.hasPrefix(Self.root + "/") else { return try await next(request, context) }
        switch request.method {
        case .get: return try answer(to: request)
        case .head: return try answer(to: request).createHeadResponse()
        default: throw Problem.methodNotAllowed([.get, .head])
        }
    }

    private func answer(to request: Request) throws -> Response {
        let path = request.uri.path.dropFirst(Self.root.count + 1)
        if let file = files.file(at: String(path)) { return answer(file, to: request) }
        // An address is a page's, which the document finds its own way to, or that of a file that is missing.
        guard MediaType.ofFile(named: path) == nil || Self.isFromBrowser(request) else { throw Problem.notFound() }
        return answer(files.document, to: request)
    }

    private static func isFromBrowser(_ request: Request) -> Bool {
        request.headers[.accept]?.contains("text/html") == true
    }

    private func answer(_ file: ConsoleFiles.File, to request: Request) -> Response {
        var headers = Self.securityPolicy
        headers[.eTag] = file.entityTag
        // A release brings new files at once; what has not changed costs 304.
        headers[.cacheControl] = "no-cache"
        guard !EntityTag.isKnown(file.entityTag, to: request.headers) else {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.mediaType
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: file.bytes))
    }
}
