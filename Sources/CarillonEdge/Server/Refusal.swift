import CarillonCore
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1

/// Why what arrived on a connection is not taken for a request.
struct Refusal {
    let problem: Problem
    /// The id that the caller gave the request, if that much could be read.
    var requestID: String?
    /// Whether the answer must not have a body.
    var isHead = false

    /// A request without the one thing that HTTP/1.1 demands of all (RFC 9112 section 3.2), or whose body is coded as nobody here can
    /// read it (section 6.1); `nil` when there is nothing of the kind.
    init?(of head: HTTPRequestHead) {
        guard let problem = Self.problem(of: head) else { return nil }
        self.problem = problem
        requestID = RequestID.accepted(head.headers.first(name: "x-request-id"))
        isHead = head.method == .HEAD
    }

    private static func problem(of head: HTTPRequestHead) -> Problem? {
        if !head.isOld, head.headers["host"].count != 1 {
            return .malformedRequest("a request of HTTP/1.1 has one Host field")
        }
        let codings = head.headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }.filter { !$0.isEmpty }
        guard let last = codings.last, codings != ["chunked"] else { return nil }
        // Where a body without chunks ends, nobody can say (section 6.3).
        guard last == "chunked", codings.count(where: { $0 == last }) == 1 else {
            return .malformedRequest("a body in a transfer coding is chunked in the end, and once")
        }
        return .unknownTransferCoding
    }

    init(_ error: HTTPParserError) {
        problem =
            switch error {
            case .headerOverflow: .headersTooLarge("far more is there than is accepted")
            case .invalidVersion: .malformedRequest("only HTTP/1.1 and HTTP/1.0 are understood")
            case .invalidMethod: .malformedRequest("the method is unknown")
            case .invalidHeaderToken: .malformedRequest("a header field is not valid")
            default: .malformedRequest("what arrived cannot be read")
            }
    }
}

/// Answers what never becomes a request, and so passes by the router.
struct RefusalWriter: Sendable {
    private let ids = UUIDv7Generator()
    let logger: Logger
    private let log = RequestLog(.ofAnswers)

    /// Writes the answer, which is the last one of its connection.
    func write(_ refusal: Refusal, to context: ChannelHandlerContext) {
        let id = refusal.requestID ?? ids.next().canonicalText
        let problem = refusal.problem
        let body = problem.document.serialized
        var headers: HTTPHeaders = [
            "content-type": "application/problem+json", "cache-control": "no-store", "content-length": "\(body.count)",
            "x-request-id": id, "connection": "close",
        ]
        if refusal.isHead { headers.remove(name: "content-length") }
        let status = HTTPResponseStatus(statusCode: problem.status.code)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
        if !refusal.isHead {
            let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: body)))
            context.write(NIOAny(part), promise: nil)
        }
        context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)), promise: nil)
        log.writeOfStranger(
            "Request refused",
            at: .info,
            status: problem.status,
            route: "none",
            [
                "request.id": "\(id)", "http.status": "\(problem.status.code)", "reason": "\(problem.detail ?? "")",
                "client.address": "\(context.remoteAddress?.ipAddress ?? "")",
            ],
            to: logger
        )
    }
}
