package import CarillonCore
package import HTTPTypes
package import HummingbirdTesting
import NIOCore
import Testing

/// An answer of a service, with its body read, as JSON unless told otherwise.
package struct Answer: Sendable {
    package let status: Int
    package let headers: HTTPFields
    package let bytes: [UInt8]
    package let json: JSONValue?

    package init(
        _ response: TestResponse,
        reading read: ([UInt8], HTTPFields) -> JSONValue? = { bytes, _ in
            try? JSONValue(parsing: bytes)
        }
    ) {
        status = response.status.code
        headers = response.headers
        bytes = Array(response.body.readableBytesView)
        json = read(bytes, headers)
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value at a path of member names and indices.
    package subscript(path: String...) -> JSONValue? { value(at: path) }

    package func string(_ path: String...) -> String? {
        guard case .string(let text)? = value(at: path) else { return nil }
        return text
    }

    private func value(at path: [String]) -> JSONValue? {
        path.reduce(json) { value, step in
            switch value {
            case .object(let object)?: object[step]
            case .array(let elements)?: Int(step).flatMap { elements.dropFirst($0).first }
            default: nil
            }
        }
    }
}

extension TestClientProtocol {
    /// Sends a request; a body is sent as `type`, unless the headers say otherwise.
    package func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: [UInt8]?,
        as token: String?,
        type: String? = "application/json",
        headers: [String: String]
    ) async throws -> TestResponse {
        var fields = HTTPFields()
        if let token { fields[.authorization] = "Bearer \(token)" }
        if let type, body != nil { fields[.contentType] = type }
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        return try await execute(uri: path, method: method, headers: fields, body: body.map { ByteBuffer(bytes: $0) })
    }
}
