package import CarillonCore
import HTTPTypes
package import NIOHTTP1

/// What header fields say of a post: each stands there once, but for those that proxies append to.
package struct PostHead {
    /// As they are written by nearly everybody.
    private static let json: Set = [
        "application/json", "application/json; charset=utf-8", "application/json;charset=utf-8",
    ]

    package private(set) var id: String?
    package private(set) var authorization: String?
    /// The id that the caller gave the request.
    package private(set) var requestID: String?
    package private(set) var trace: TraceContext?
    package private(set) var idempotencyKey: String?
    private var contentType: String?
    /// What proxies say of where it comes from.
    private var forwardedFor: [String] = []
    private var timestamp: String?
    private var signatures: String?

    /// Whether there is a signature of Standard Webhooks.
    package var hasSignature: Bool { signatures != nil }

    /// How it is signed, if all is there that belongs to it.
    package var signature: SignedBody? {
        guard let id, let timestamp, let signatures else { return nil }
        return SignedBody(id: id, timestamp: timestamp, signatures: signatures)
    }

    /// Reads header fields; `nil` when one changes how a request is read, or there are more than may be.
    package init?(_ headers: HTTPHeaders, within settings: ServerSettings) {
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
            case "x-forwarded-for":
                forwardedFor.append(value)
                continue
            case "connection": guard value.lowercased() == "keep-alive" else { return nil }
            case "content-encoding", "expect", "transfer-encoding", "upgrade": return nil
            default: continue
            }
            guard seen.insert(name).inserted else { return nil }
        }
        guard count <= settings.headerCount, bytes <= settings.headerBytes else { return nil }
    }

    /// Whether a body may be read as JSON.
    package var isJSON: Bool { contentType.map { Self.json.contains($0.lowercased()) } ?? true }

    /// Whether a body may be read as one of these types, or as whatever it is.
    package func allows(_ types: [String]?) -> Bool {
        guard let contentType, let types else { return true }
        return (try? ContentType.check([.contentType: contentType], accepted: types)) != nil
    }

    /// Where a post comes from over a connection of `peer`.
    package func client(of peer: IPAddress, trusting proxies: TrustedProxies) -> IPAddress {
        proxies.client(of: peer, forwarded: forwardedFor)
    }
}
