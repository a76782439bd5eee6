import NIOCore
import NIOHPACK
import NIOHTTP1

/// The answer to one request while it arrives.
struct HTTP2Answer {
    /// What is known after each part.
    enum Progress: Equatable {
        case incomplete
        case complete
        /// As much was read as is read of any answer.
        case long
        case malformed
    }

    private var status: Int?
    private var headers = HTTPHeaders()
    private var body: [UInt8] = []
    private var bytesLeft: Int

    init(maximumBytes: Int) {
        bytesLeft = maximumBytes
    }

    /// What has arrived; `nil` before the status has.
    var response: OutboundResponse? {
        status.map { OutboundResponse(status: $0, headers: headers, body: body) }
    }

    /// Takes a header list: an informational answer, the head, or the trailers, of which only the first and the last are
    /// passed over.
    mutating func receive(_ fields: HPACKHeaders, isLast: Bool) -> Progress {
        guard count(Self.size(of: fields)) else { return .long }
        if status == nil {
            guard let text = fields.first(name: ":status"), let status = Int(text), (100...999).contains(status) else {
                return .malformed
            }
            if status < 200 { return isLast ? .malformed : .incomplete }
            self.status = status
            for (name, value, _) in fields where !name.hasPrefix(":") { headers.add(name: name, value: value) }
        }
        return isLast ? .complete : .incomplete
    }

    /// How many bytes fields have, uncompressed.
    static func size(of fields: HPACKHeaders) -> Int {
        fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }

    mutating func receive(_ bytes: ByteBuffer, isLast: Bool) -> Progress {
        guard status != nil else { return .malformed }
        body.append(contentsOf: bytes.readableBytesView.prefix(bytesLeft))
        guard count(bytes.readableBytes) else { return .long }
        return isLast ? .complete : .incomplete
    }

    /// Counts bytes that arrived; whether that is no more than is read.
    private mutating func count(_ bytes: Int) -> Bool {
        let fits = bytes <= bytesLeft
        bytesLeft = max(0, bytesLeft - bytes)
        return fits
    }
}
