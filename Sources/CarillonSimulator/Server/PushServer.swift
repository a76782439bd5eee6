import NIOCore
import NIOHPACK

/// A service that answers requests, whatever they came over.
protocol PushServer: Sendable {
    var connectionRules: ConnectionRules { get }

    /// Decides at once about a request that has arrived completely. Runs on the connection's event loop.
    func reply(to request: Request, on connection: Connection) -> Reply

    var goAwayAfterStreams: Int? { get }
}

/// What a service does with its connections.
struct ConnectionRules: Sendable {
    /// Whether HTTP/1.1 is spoken with clients that do not offer HTTP/2.
    var allowsHTTP1: Bool
    /// MAX_CONCURRENT_STREAMS.
    var maximumConcurrentStreams: Int
    /// Whether a connection starts with one stream, until it has shown a valid provider token.
    var startsWithOneStream = false
    /// The JSON that GOAWAY carries, as Apple's does.
    var goAwayReason: String?
}

/// A request that has arrived completely.
struct Request {
    var headers: HPACKHeaders
    /// The body as far as it is kept: ``maximumBodyBytes``.
    var body: ByteBuffer
    var bodyLength: Int

    /// More than every service takes.
    static let maximumBodyBytes = 16_384

    var method: String { headers.first(name: ":method") ?? "" }

    /// The path without the query.
    var path: Substring {
        let target = headers.first(name: ":path") ?? ""
        return target.prefix { $0 != "?" }
    }

    var bytes: [UInt8] { Array(body.readableBytesView) }
}

extension Request {
    /// What may be remembered: everything but the authorization.
    var visibleHeaders: [String: String] {
        var visible: [String: String] = [:]
        for (name, value, _) in headers where name != "authorization" { visible[name] = value }
        return visible
    }
}

/// What is done about a request.
struct Reply {
    enum Manner {
        case answer(Answer)
        /// The first part of the body, and a reset.
        case cut(Answer)
        /// The body over and over.
        case endless(Answer)
        case silence
        case reset
        case refusal
        case goAway
        case disconnection
    }

    var manner: Manner
    var delay = TimeAmount.zero

    /// `nil` when the client sees no whole answer.
    var status: Int? {
        switch manner {
        case .answer(let answer): answer.status
        case .cut, .endless, .silence, .reset, .refusal, .goAway, .disconnection: nil
        }
    }

    /// Whether the client knows that its request was not processed.
    var isUnprocessed: Bool {
        switch manner {
        case .refusal, .goAway: true
        case .answer, .cut, .endless, .silence, .reset, .disconnection: false
        }
    }
}

struct Answer {
    var headers: HPACKHeaders
    var body: ByteBuffer?

    init(_ status: Int, headers: [(String, String)] = []) {
        self.headers = HPACKHeaders([(":status", String(status))] + headers)
    }

    init(_ status: Int, headers: [(String, String)] = [], json: String) {
        self.init(status, headers: headers, type: "application/json; charset=UTF-8", text: json)
    }

    init(_ status: Int, headers: [(String, String)] = [], type: String, text: String) {
        self.init(status, headers: headers + [("content-type", type), ("content-length", String(text.utf8.count))])
        body = ByteBuffer(string: text)
    }

    /// A text that will be broken off: its length is not told.
    init(_ status: Int, type: String, partOfText text: String) {
        self.init(status, headers: [("content-type", type)])
        body = ByteBuffer(string: text)
    }

    /// `nil` when the headers carry none that is a number.
    var status: Int? { headers.first(name: ":status").flatMap { Int($0) } }
}
