package import CarillonCore
import HTTPTypes
package import Hummingbird
import NIOCore

/// Reads bodies whole, within their limits (API section 1).
package enum RequestBodyReader {
    /// The most bytes of `POST /events`.
    package static let eventsLimit = 256 * 1024
    /// The most bytes of any other body but an import.
    package static let limit = 64 * 1024

    /// The bytes of a body, however it is framed.
    ///
    /// - Throws: 413 as soon as it is clear that there is too much, 408 when it takes too long, and 400 when it ends early.
    package static func bytes(of request: Request, upTo limit: Int) async throws -> [UInt8] {
        let announced = try announcedLength(request)
        if let announced, announced > limit { throw Problem.contentTooLarge(limit: limit) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(announced ?? 0)
        try await forEachPart(of: request) { part throws(Problem) in
            guard bytes.count + part.readableBytes <= limit else { throw .contentTooLarge(limit: limit) }
            part.withUnsafeReadableBytes { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    package static func json(
        of request: Request,
        types: [String] = ContentType.json,
        upTo limit: Int = limit
    ) async throws -> JSONValue {
        try ContentType.check(request.headers, accepted: types)
        return try JSONValue(body: await bytes(of: request, upTo: limit))
    }

    /// A body as JSON, which may be left out: `nil` then.
    package static func optionalJSON(of request: Request) async throws -> JSONValue? {
        let bytes = try await bytes(of: request, upTo: limit)
        if bytes.isEmpty { return nil }
        try ContentType.check(request.headers, accepted: ContentType.json)
        return try JSONValue(body: bytes)
    }

    /// Hands on the parts of a body as they arrive.
    package static func forEachPart(of request: Request, _ handle: (ByteBuffer) throws -> Void) async throws {
        let announced = try announcedLength(request)
        var received = 0
        var parts = request.body.makeAsyncIterator()
        while let part = try await next(&parts) {
            received += part.readableBytes
            try handle(part)
        }
        // A connection that is lost in the middle of a body looks like its end.
        if let announced, received != announced { throw Problem.incompleteBody }
        // The time that the body took was the caller's.
        if received > 0 { UnitOfWork.current?.restart() }
    }

    private static func next(_ parts: inout RequestBody.AsyncIterator) async throws -> ByteBuffer? {
        do {
            return try await parts.next(isolation: #isolation)
        } catch is RequestDeadlineExceeded {
            throw Problem.requestTimeout
        } catch is CancellationError {
            throw Problem.serviceUnavailable()
        } catch {
            throw Problem.incompleteBody
        }
    }

    private static func announcedLength(_ request: Request) throws(Problem) -> Int? {
        guard let text = request.headers[.contentLength] else { return nil }
        guard let length = Int(text), length >= 0 else { throw .incompleteBody }
        return length
    }
}

struct RequestDeadlineExceeded: Error {}
