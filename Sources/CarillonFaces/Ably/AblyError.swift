import CarillonCore
import CarillonEdge
import HTTPTypes

/// What a client of Ably's is told when something is wrong: a code of Ably's, by which it decides what to do.
struct AblyError: FaceError, Equatable {
    var status: HTTPResponse.Status
    var code: Int
    /// What is wrong, in words without anything of the request's.
    var message: String
    /// What became of each item of a batch.
    var batch: [JSONValue]?
    /// What the answer carries besides, such as `retry-after`.
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ code: Int, _ message: String, batch: [JSONValue]? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.batch = batch
    }

    var problem: Problem {
        Problem("ably-\(code)", status, "A client of Ably's was told \(code)", message)
    }

    /// The error as clients read it: all members always.
    var json: JSONValue {
        [
            "statusCode": JSONValue(status.code), "code": JSONValue(code), "message": .string(message),
            "href": .string("https://help.ably.io/error/\(code)"),
        ]
    }

    var document: JSONValue { ["error": json, "batchResponse": batch.map(JSONValue.array)] }
}

extension JSONObject {
    /// A member that is a text; null counts as absent.
    func ablyText(
        _ key: String,
        orNone: String? = nil,
        else error: (String) -> AblyError = AblyError.body
    ) throws(AblyError) -> String? {
        switch self[key] {
        case nil, .null: return nil
        case .string(let text): return text == orNone ? nil : text
        default: throw error("\(key) must be a string")
        }
    }

    /// A member that is an object; null counts as absent.
    func ablyObject(_ key: String, else error: (String) -> AblyError) throws(AblyError) -> JSONObject? {
        switch self[key] {
        case nil, .null: return nil
        case .object(let object): return object
        default: throw error("\(key) must be an object")
        }
    }

    /// A member that is a patch: an object, or `null`, which removes all of what it is about.
    func ablyPatch(_ key: String) throws(AblyError) -> JSONValue {
        if self[key] == .some(.null) { return .null }
        return .object(try ablyObject(key, else: AblyError.malformed) ?? JSONObject())
    }
}

extension AblyError {
    static func malformed(_ message: String) -> AblyError { AblyError(.badRequest, 40000, message) }
    static func body(_ message: String) -> AblyError { AblyError(.badRequest, 40001, message) }
    static func query(_ message: String) -> AblyError { AblyError(.badRequest, 40003, message) }
    static func tooLarge(_ message: String) -> AblyError { AblyError(.contentTooLarge, 40009, message) }
    static func messageIDs(_ message: String) -> AblyError { AblyError(.badRequest, 40031, message) }
    static func extras(_ message: String) -> AblyError { AblyError(.badRequest, 40032, message) }
    static func credentials(_ message: String) -> AblyError { AblyError(.unauthorized, 40101, message) }
    static func capability(_ message: String) -> AblyError { AblyError(.unauthorized, 40160, message) }
    static func notFound(_ message: String) -> AblyError { AblyError(.notFound, 40400, message) }

    static let channel = AblyError(.badRequest, 40010, "this is no name of a channel")
    static let client = AblyError(.badRequest, 40012, "this clientId cannot be used with these credentials")
    static let device = AblyError(.badRequest, 40015, "this is no id of a device, or not the one of the path")
    static let insecure = AblyError(.unauthorized, 40103, "a key is taken over TLS only: use a token")
    static let timestamp = AblyError(.unauthorized, 40104, "timestamp is more than 2 minutes off")
    static let nonce = AblyError(.unauthorized, 40105, "this nonce was used before")
    static let unknownToken = AblyError(.unauthorized, 40140, "the token is not valid here")
    static let expiredToken = AblyError(.unauthorized, 40142, "the token has expired")
    static let otherClient = AblyError(.badRequest, 61002, "the device is registered to another clientId")
    static let noHistory = AblyError(.methodNotAllowed, 40500, "no channel has a history but [meta]log:push")
    static let unknownDevice = notFound("there is no such device")
    static let pushIsOff = capability(
        "push is not enabled on this channel: see the namespaces of this application's binding"
    )

    init(_ problem: Problem) {
        let message = problem.detail ?? problem.title
        switch problem.status.code {
        case 401: self = .credentials(message)
        case 403: self.init(.forbidden, 40300, message)
        case 404: self = .notFound(message)
        case 405: self.init(.methodNotAllowed, 40500, message)
        case 413: self = .tooLarge(message)
        case 415: self.init(.unsupportedMediaType, 40000, message)
        case 429: self.init(.tooManyRequests, 42910, message)
        case 503: self.init(.serviceUnavailable, 50003, message)
        case 400 where problem.name == "invalid-parameter": self = .query(message)
        case 408, 431: self.init(problem.status, 40000, message)
        case 400..<500: self = .malformed(message)
        default: self.init(.internalServerError, 50000, message)
        }
        headers = problem.headers
    }
}
