public import NIOHTTP1

/// A POST to a URL that somebody else chose.
public struct OutboundRequest: Sendable {
    /// Where to; the client takes it apart and checks it.
    public var url: String
    /// The headers without `Host` and `Content-Length`, which the client adds.
    public var headers: HTTPHeaders
    /// The body.
    public var body: [UInt8]

    /// A request by its parts.
    public init(url: String, headers: HTTPHeaders, body: [UInt8]) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The answer to a request.
public struct OutboundResponse: Sendable, Equatable {
    /// The status code; a redirect is an answer like any other.
    public var status: Int
    /// The headers.
    public var headers: HTTPHeaders
    /// The body, or its beginning when it was longer than what is read of an answer.
    public var body: [UInt8]
}
