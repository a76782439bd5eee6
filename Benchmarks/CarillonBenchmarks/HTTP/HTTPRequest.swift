import NIOCore

/// A request to the service.
struct HTTPRequest: Sendable {
    /// The method, in upper case.
    var method = "GET"
    /// The path with its query, percent-encoded.
    var path: String
    /// The header fields besides `host` and `content-length`.
    var headers: [(name: String, value: String)] = []
    /// The body.
    var body: [UInt8] = []

    /// A request with a body of JSON.
    static func json(_ method: String, _ path: String, _ body: [UInt8]) -> HTTPRequest {
        HTTPRequest(method: method, path: path, headers: [("content-type", "application/json")], body: body)
    }

    /// Appends the request as it is sent.
    func write(to buffer: inout ByteBuffer) {
        buffer.writeString("\(method) \(path) HTTP/1.1\r\nhost: 127.0.0.1\r\n")
        for (name, value) in headers { buffer.writeString("\(name): \(value)\r\n") }
        buffer.writeString("content-length: \(body.count)\r\n\r\n")
        buffer.writeBytes(body)
    }
}
