import CarillonCore
import CarillonDialects
import CarillonEdge
import HTTPTypes
import NIOHTTP1

/// What header fields say of a post, each of which stands there once.
struct PostHead {
    /// As they are written by nearly everybody.
    private static let json: Set = [
        "application/json", "application/json; charset=utf-8", "application/json;charset=utf-8",
    ]

    private(set) var id: String?
    private(set) var authorization: String?
    /// The id that the caller gave the request.
    private(set) var requestID: String?
    private(set) var trace: TraceContext?
    private(set) var idempotencyKey: String?
    private var contentType: String?
    private var timestamp: String?
    private var signatures: String?

    /// Whether there is a signature of Standard Webhooks.
    var hasSignature: Bool { signatures != nil }

    /// How it is signed, if all is there that belongs to it.
    var signature: SignedBody? {
        guard let id, let timestamp, let signatures else { return nil }
        return SignedBody(id: id, timestamp: timestamp, signatures: signatures)
    }

    /// Reads header fields; `nil` when one changes how a request is read, or there are more than may be.
    init?(_ headers: HTTPHeaders, within settings: ServerSettings) {
        var (count, bytes) = (0, 0)
        var seen: Set<String> = []
        for (name, value) in headers {
            // Elsewhere such a value is mended before anything is made of it.
            guard HTTPField.isValidValue(value) else { return nil }
            count += 1
            bytes += ServerSettings.headerBytes(name, value)
            let name = name.lowercased()
            switch name {
            case "authorization": authorization = value
            case "webhook-id": id = value
            case "webhook-timestamp": timestamp = value
            case "webhook-signature": signatures = value
            case "x-request-id": requestID = RequestID.accepted(value)
            case "traceparent": trace = TraceContext(value)
            case "idempotency-key": idempotencyKey = value
            case "content-type": contentType = value
            case "connection": guard value.lowercased() == "keep-alive" else { return nil }
            case "content-encoding", "expect", "transfer-encoding", "upgrade": return nil
            default: continue
            }
            guard seen.insert(name).inserted else { return nil }
        }
        guard count <= settings.headerCount, bytes <= settings.headerBytes else { return nil }
    }

    /// Whether a body may be read as what the fields say that it is.
    func allows(_ kind: PostAddress.Kind) -> Bool {
        guard let contentType else { return true }
        guard case .dialect(let dialect) = kind else { return Self.json.contains(contentType.lowercased()) }
        guard let types = dialect.mediaTypes else { return true }
        return (try? ContentType.check([.contentType: contentType], accepted: types)) != nil
    }
}
