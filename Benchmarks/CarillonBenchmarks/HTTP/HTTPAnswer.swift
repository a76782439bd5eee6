import CarillonCore
import NIOCore

/// An answer of the service.
struct HTTPAnswer: Sendable {
    /// The status code.
    let status: Int
    /// The whole body.
    let body: ByteBuffer
    /// When its last byte was read.
    let arrivedAt: NIODeadline

    /// The body as JSON.
    /// - Throws: ``UnexpectedAnswer`` when it is none.
    var json: JSONValue {
        get throws(UnexpectedAnswer) {
            do {
                return try JSONValue(parsing: Array(body.readableBytesView))
            } catch {
                throw UnexpectedAnswer(self)
            }
        }
    }

    /// This answer, if it has the status that it should have.
    /// - Throws: ``UnexpectedAnswer``.
    func expecting(_ status: Int) throws(UnexpectedAnswer) -> HTTPAnswer {
        guard self.status == status else { throw UnexpectedAnswer(self) }
        return self
    }
}

/// The service answered something else than a benchmark can go on with.
struct UnexpectedAnswer: Error, CustomStringConvertible {
    /// What it answered.
    let description: String

    init(_ answer: HTTPAnswer) {
        let body = String(decoding: answer.body.readableBytesView.prefix(500), as: UTF8.self)
        description = "the service answered \(answer.status): \(body)"
    }
}

/// What can happen to a request on the way.
enum HTTPFailure: Error, CustomStringConvertible {
    case closed
    case malformedAnswer
    case timedOut

    /// The failure in plain words.
    var description: String {
        switch self {
        case .closed: "the service closed the connection"
        case .malformedAnswer: "the service answered something that is no HTTP/1.1 with a content-length"
        case .timedOut: "the service did not answer in time"
        }
    }
}
