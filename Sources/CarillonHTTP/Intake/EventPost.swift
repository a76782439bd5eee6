import CarillonCore
import CarillonEdge
import NIOCore
import NIOHTTP1

/// A post of one event, with nothing about it that is unusual: its sender known, and read.
struct EventPost {
    private static let prefix = "/v1/networks/"
    private static let suffix = "/events"
    /// As they are written by nearly everybody.
    private static let contentTypes: Set = [
        "application/json", "application/json; charset=utf-8", "application/json;charset=utf-8",
    ]

    let since = ContinuousClock.now
    let network: Network
    let event: ParsedEvent
    /// The id that the caller gave the request.
    let requestID: String?

    /// Reads a request; `nil` for whatever is unusual or not right, or would have to be waited for.
    init?(_ head: HTTPRequestHead, _ body: ByteBuffer, _ services: Services, within settings: ServerSettings) {
        guard head.version == .http1_1, let networkID = Self.network(of: head.uri),
            let headers = Headers(head.headers, within: settings)
        else { return nil }
        let bytes = Array(body.readableBytesView)
        // Of an array its elements share a commit anyway.
        guard bytes.first(where: { $0 > UInt8(ascii: " ") }) == UInt8(ascii: "{") else { return nil }
        guard let network = headers.sender(of: bytes, to: networkID, services.authenticator),
            case .single(var event)? = try? EventParser(clock: services.clock)
                .parse(body: bytes, fallbackSourceID: headers.id)
        else { return nil }
        if case .known(var known) = event.content, known.trace == nil, let trace = headers.trace {
            known.trace = trace
            event.content = .known(known)
        }
        self.network = network
        self.event = event
        requestID = headers.requestID
    }

    /// Why it has no effect; `nil` when it has.
    var reasonToIgnore: String? {
        if case .ignored(let type) = event.content { EventType.reasonToIgnore(type) } else { nil }
    }

    /// Whether an address is one that events are posted to, as far as its beginning and its end say.
    static func mayBe(at uri: String) -> Bool { uri.hasPrefix(prefix) && uri.hasSuffix(suffix) }

    /// The network of an address that events are posted to, if nothing in it has to be decoded.
    private static func network(of uri: String) -> NetworkID? {
        guard mayBe(at: uri), uri.utf8.count > prefix.utf8.count + suffix.utf8.count else { return nil }
        let id = uri.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        guard id.allSatisfy(isPlain), id.contains(where: { $0 != UInt8(ascii: ".") }) else { return nil }
        return NetworkID(String(Substring(id)))
    }

    /// Letters, digits, and what else stands for itself in a segment (RFC 3986 section 2.3).
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// What header fields say, each of which stands there once.
    private struct Headers {
        var id: String?
        var requestID: String?
        var trace: TraceContext?
        private var authorization: String?
        private var timestamp: String?
        private var signatures: String?

        /// The network, if it is known already that whoever sent this may post its events.
        func sender(of body: [UInt8], to networkID: NetworkID, _ authenticator: Authenticator) -> Network? {
            if let authorization { return authenticator.rememberedSender(authorization, of: networkID) }
            guard let id, let timestamp, let signatures else { return nil }
            let signature = SignedBody(id: id, timestamp: timestamp, signatures: signatures)
            return authenticator.rememberedSender(signature, body, of: networkID)
        }

        /// Reads header fields; `nil` when one changes how a request is read, or there are more than may be.
        init?(_ headers: HTTPHeaders, within settings: ServerSettings) {
            var (count, bytes) = (0, 0)
            var seen: Set<String> = []
            for (name, value) in headers {
                count += 1
                bytes += ServerSettings.headerBytes(name, value)
                let name = name.lowercased()
                switch name {
                case "authorization": authorization = value
                case "webhook-id": id = value
                case "webhook-timestamp": timestamp = value
                case "webhook-signature": signatures = value
                case "x-request-id": requestID = RequestIDMiddleware.accepted(value)
                case "traceparent": trace = TraceContext(value)
                case "content-type": guard EventPost.contentTypes.contains(value.lowercased()) else { return nil }
                case "connection": guard value.lowercased() == "keep-alive" else { return nil }
                case "content-encoding", "expect", "transfer-encoding", "upgrade": return nil
                default: continue
                }
                guard seen.insert(name).inserted else { return nil }
            }
            guard count <= settings.headerCount, bytes <= settings.headerBytes else { return nil }
        }
    }
}
