package import CarillonCore
package import HTTPTypes
package import Hummingbird
import NIOCore

extension Response {
    package static func json(
        _ value: JSONValue,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Response {
        json(value.serialized, status: status, headers: headers)
    }

    /// An answer with a body that is JSON already.
    package static func json(_ bytes: [UInt8], status: HTTPResponse.Status, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        // Answers depend on who asks, and some hold secrets.
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
        return Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }

    package static let noContent = Response(status: .noContent)
}
