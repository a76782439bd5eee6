import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// In what form something is written: SDKs prefer MessagePack, people JSON.
enum AblyFormat: Sendable {
    case json
    case messagePack

    /// The form of an answer: by `Accept`, else by `?format=`, else JSON.
    init(answering request: Request) {
        let accepted = request.headers[values: .accept].flatMap { $0.split(separator: ",") }.compactMap(Self.accepting)
        let best = accepted.max { $0.weight < $1.weight }
        // Of those that are wanted alike the first.
        if let best, let first = accepted.first(where: { $0.weight == best.weight }) {
            self = first.format
        } else {
            self = (try? QueryParameters(request).text("format")) == "msgpack" ? .messagePack : .json
        }
    }

    private init?(mediaType: some StringProtocol) {
        switch mediaType.lowercased() {
        case "application/json": self = .json
        case "application/x-msgpack": self = .messagePack
        default: return nil
        }
    }

    private static func accepting(_ entry: Substring) -> (format: AblyFormat, weight: Double)? {
        let parts = entry.split(separator: ";").map { part in part.filter { !$0.isWhitespace } }
        guard let type = parts.first, let format = AblyFormat(mediaType: type) else { return nil }
        let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        return weight > 0 ? (format, weight) : nil
    }

    /// The form of a body.
    /// - Throws: 415 for any other, forms of web pages among them.
    init(of request: Request) throws {
        guard let header = request.headers[.contentType] else {
            self = .json
            return
        }
        let type = header.prefix { $0 != ";" }.filter { !$0.isWhitespace }
        guard let format = AblyFormat(mediaType: type), request.headers[.contentEncoding] ?? "identity" == "identity"
        else {
            throw AblyError(
                .unsupportedMediaType,
                40000,
                "the body must be application/json or application/x-msgpack, and not be encoded"
            )
        }
        self = format
    }
}

/// Reads bodies in either form, within their limits.
enum AblyBody {
    /// The body of a request, without what `clean` takes out: what nobody looks at may hold anything.
    ///
    /// - Throws: 413, 415, and 40000 for what cannot be read.
    static func value(
        of request: Request,
        upTo limit: Int = RequestBodyReader.limit,
        clean: (JSONValue) -> JSONValue = { $0 }
    ) async throws -> JSONValue {
        let format = try AblyFormat(of: request)
        let bytes = try await RequestBodyReader.bytes(of: request, upTo: limit)
        switch format {
        case .json:
            do throws(JSONSyntaxError) {
                return clean(try JSONValue(parsing: bytes))
            } catch {
                throw AblyError.malformed("the body is no JSON that is accepted: \(error)")
            }
        case .messagePack:
            let value: JSONValue
            do throws(MessagePackError) {
                value = clean(try MessagePackReader.value(of: bytes))
            } catch {
                throw AblyError.malformed("the body is no MessagePack that is accepted: \(error.rawValue)")
            }
            guard !value.holdsNUL else { throw AblyError.malformed("texts must be UTF-8 and hold no U+0000") }
            return value
        }
    }

    static func object(of request: Request) async throws -> JSONObject {
        guard case .object(let object) = try await value(of: request) else {
            throw AblyError.body("the body must be an object")
        }
        return object
    }
}

extension JSONValue {
    /// Whether there is a U+0000 in any text or name, which databases cannot store.
    fileprivate var holdsNUL: Bool {
        switch self {
        case .null, .bool, .number: false
        case .string(let text): text.utf8.contains(0)
        case .array(let elements): elements.contains(where: \.holdsNUL)
        case .object(let object): object.members.contains { $0.key.utf8.contains(0) || $0.value.holdsNUL }
        }
    }
}

extension Response {
    /// An answer in the form that was asked for.
    static func ably(
        _ value: JSONValue,
        status: HTTPResponse.Status = .ok,
        to request: Request,
        headers: HTTPFields = [:]
    ) -> Response {
        guard AblyFormat(answering: request) == .messagePack else {
            return .json(value, status: status, headers: headers)
        }
        return .written(value.messagePack, as: "application/x-msgpack", status: status, headers: headers)
    }

    /// An error in the form that was asked for, its code and words in headers, too.
    static func ably(_ error: AblyError, to request: Request) -> Response {
        var headers = error.headers
        headers[.ablyErrorCode] = "\(error.code)"
        headers[.ablyErrorMessage] = String(
            String.UnicodeScalarView(error.message.unicodeScalars.filter { (" "..."~").contains($0) })
        )
        if error.status == .unauthorized, headers[.wwwAuthenticate] == nil { headers[.wwwAuthenticate] = "Bearer" }
        return .ably(error.document, status: error.status, to: request, headers: headers)
    }
}

extension HTTPField.Name {
    static let ablyErrorCode = known("x-ably-errorcode")
    static let ablyErrorMessage = known("x-ably-errormessage")
    static let ablyDeviceToken = known("x-ably-devicetoken")
    static let ablyDeviceSecret = known("x-ably-devicesecret")
    static let link = known("link")
}
