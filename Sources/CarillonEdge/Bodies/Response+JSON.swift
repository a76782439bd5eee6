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
        written(value.serialized, status: status, headers: headers)
    }

    /// An answer with a body that is written already, as JSON or in another form.
    package static func written(
        _ bytes: [UInt8],
        as type: String = "application/json",
        status: HTTPResponse.Status,
        headers: HTTPFields
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
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
