import NIOCore
import NIOHPACK

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
