import CarillonCore
import CarillonDialects
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Reads requests as dialects read them: finds the bytes as they were before somebody packed them.
enum DialectRequestReader {
    /// Whether `Authorization` shows an API key, and not something of the dialect's own.
    static func isKey(_ authorization: String, for dialect: any EventDialect) -> Bool {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.first?.lowercased() == "bearer" else { return false }
        return dialect.name != .matrix || parts.last?.hasPrefix(APIKeySecret.prefix) == true
    }

    /// Whether a body may turn out to be larger than those of events are as a rule.
    static func mayBeLarge(_ request: Request) -> Bool {
        guard request.headers[.contentEncoding] == nil, let length = request.headers[.contentLength] else {
            return true
        }
        return Int(length).map { $0 > RequestBodyReader.eventsLimit } ?? true
    }

    /// The request for a dialect without its body.
    static func head(of request: Request) throws -> DialectRequest {
        var headers = request.headers.map { (name: $0.name.canonicalName, value: $0.value) }
        // Of HTTP/2 and in this library it is no field, but part of what is asked for.
        if let host = request.head.authority { headers.append((name: "host", value: host)) }
        return DialectRequest(
            target: request.head.path ?? request.uri.path,
            query: try QueryParameters(request).all(),
            headers: headers,
            body: []
        )
    }

    /// The request for a dialect, with its body unpacked: within the same limit before and after that.
    static func request(
        _ request: Request,
        for dialect: any EventDialect,
        upTo limit: Int = RequestBodyReader.eventsLimit
    ) async throws -> DialectRequest {
        var headers = request.headers
        guard ["", "identity", "gzip", "x-gzip"].contains(headers[.contentEncoding]?.lowercased() ?? "") else {
            throw Problem.unsupportedMediaType("the body may be encoded with gzip only")
        }
        headers[.contentEncoding] = nil
        if let types = dialect.mediaTypes { try ContentType.check(headers, accepted: types) }
        var posted = try head(of: request)
        posted.body = try await RequestBodyReader.bytes(of: request, upTo: limit)
        // By the bytes: some senders say nothing of it, and some proxies unpack and leave the header.
        if Gunzip.isPacked(posted.body) {
            do throws(Gunzip.Failure) {
                posted.body = try Gunzip.unpack(posted.body, upTo: limit)
            } catch {
                throw error == .tooLarge
                    ? Problem.contentTooLarge(limit: limit)
                    : Problem(InvalidInput(problem: "invalid-encoding", pointer: "", detail: "is not whole as gzip"))
            }
        }
        return posted
    }

    /// A body as events, or the problem with it.
    static func read(
        _ request: DialectRequest,
        by dialect: any EventDialect,
        _ document: DialectDocument?,
        now: Timestamp
    ) throws(Problem) -> DialectReading {
        do throws(DialectRefusal) {
            return try dialect.events(of: request, DialectSettings(document?.settings ?? JSONObject()), now: now)
        } catch {
            throw Problem(error)
        }
    }
}

/// By what the sender of a dialect's post proves who it is: the first of these that a request shows.
enum DialectProof {
    /// An API key.
    case key
    /// A signature of Standard Webhooks, which events of CloudEvents may have.
    case signature
    /// What the other system has for it.
    case own

    init(to dialect: any EventDialect, authorization: String?, hasSignature: Bool) {
        if let authorization, DialectRequestReader.isKey(authorization, for: dialect) {
            self = .key
        } else {
            self = dialect.name == .cloudevents && hasSignature ? .signature : .own
        }
    }
}

extension Problem {
    init(_ refusal: DialectRefusal) {
        switch refusal {
        case .unproven(let reason), .dropped(let reason): self = .unauthorized(reason)
        case .invalid(let input): self.init(input)
        case .unsupportedType(let reason): self = .unsupportedMediaType(reason)
        }
    }
}
