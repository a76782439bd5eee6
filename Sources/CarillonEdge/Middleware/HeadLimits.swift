import HTTPTypes
import Hummingbird

/// Refuses requests whose head no honest client sends, before anything looks at it.
struct HeadLimits: Sendable {
    let settings: ServerSettings

    func check(_ request: Request, of face: (any Face)?) throws(Problem) {
        try checkHeaders(request.headers)
        try checkPath(request.uri.path, of: face)
    }

    private func checkHeaders(_ headers: HTTPFields) throws(Problem) {
        guard headers.count <= settings.headerCount else {
            throw .headersTooLarge("at most \(settings.headerCount) header fields are accepted")
        }
        let bytes = headers.reduce(0) { $0 + ServerSettings.headerBytes($1.name.rawName, $1.value) }
        guard bytes <= settings.headerBytes else {
            throw .headersTooLarge("at most \(settings.headerBytes) bytes of header fields are accepted")
        }
    }

    /// The router passes over empty segments and would take `/a//b/` for `/a/b`: one resource, one path.
    private func checkPath(_ path: String, of face: (any Face)?) throws(Problem) {
        var previous: UInt8 = 0
        for byte in path.utf8 {
            if byte == UInt8(ascii: "/"), previous == byte { throw .notFound() }
            if byte >= 0x80 { throw .invalidID("path", "must be percent-encoded") }
            previous = byte
        }
        if previous == UInt8(ascii: "/"), path.utf8.count > 1, !settings.folders.contains(path), face == nil {
            throw .notFound()
        }
    }
}
