import struct CarillonCore.Lane
import struct CarillonCore.OutboundURL
import NIOCore
import NIOHPACK
import NIOHTTP1
import Synchronization

/// One request on its way to a connection and through it.
final class HTTP2Exchange: Sendable {
    let headers: HPACKHeaders
    let body: ByteBuffer
    let deadline: NIODeadline
    let lane: Lane?
    /// Whether to send it, asked when it gets its stream.
    let isStillWanted: @Sendable () -> Bool
    /// Told the answer before its stream is another's.
    let whenAnswered: (@Sendable (OutboundResponse) -> Void)?
    /// It is not to be sent any more.
    let isAbandoned = Atomic(false)

    init(_ request: OutboundRequest, to url: OutboundURL, until deadline: NIODeadline) {
        headers = HPACKHeaders(request, to: url)
        body = ByteBuffer(bytes: request.body)
        self.deadline = deadline
        lane = request.lane
        isStillWanted = request.isStillWanted
        whenAnswered = request.whenAnswered
    }
}

extension HPACKHeaders {
    /// The header list of a request, with the pseudo-headers first (RFC 9113 section 8.3).
    ///
    /// The path may hold a device's token and `authorization` holds ours: neither enters a compression table, here or at
    /// any intermediary (RFC 7541 section 7.1.3). What is different in each request would only push out of the table what
    /// is not.
    init(_ request: OutboundRequest, to url: OutboundURL) {
        self.init()
        reserveCapacity(request.headers.count + 5)
        add(name: ":method", value: request.method.rawValue)
        add(name: ":scheme", value: url.scheme.rawValue)
        add(name: ":authority", value: url.authority)
        add(name: ":path", value: url.target, indexing: .neverIndexed)
        for (name, value) in request.headers {
            let isLowercased = name.utf8.allSatisfy { !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            let name = isLowercased ? name : name.lowercased()
            add(name: name, value: value, indexing: Self.indexing(of: name))
        }
        if request.method.hasBody {
            add(name: "content-length", value: "\(request.body.count)", indexing: .nonIndexable)
        }
    }

    private static func indexing(of name: String) -> HPACKIndexing {
        switch name {
        case "authorization": .neverIndexed
        case "apns-id", "apns-collapse-id", "apns-expiration", "topic": .nonIndexable
        case "webhook-id", "webhook-timestamp", "webhook-signature": .nonIndexable
        default: .indexable
        }
    }
}
