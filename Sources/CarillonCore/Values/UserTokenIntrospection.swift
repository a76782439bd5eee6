/// Whom a network asks about user tokens that are none of Carillon's (FACES section F1): its chat backend, or whoever issues them.
package struct UserTokenIntrospection: Sendable, Equatable {
    /// How many questions a network has on their way at a time.
    package static let questionsAtOnce = 32

    /// For how long an answer holds, in seconds.
    package static let cacheTimes = 0...3_600
    package static let defaultCacheTime = 300
    package static let maximumPointerBytes = 256

    /// Where the token is passed on to.
    package var url: String
    /// Where the answer says whose token it is: a JSON Pointer (RFC 6901).
    package var userIDPointer: String
    /// For how long an answer holds, in seconds.
    package var cacheTime: Int

    package init(url: String, userIDPointer: String, cacheTime: Int = Self.defaultCacheTime) {
        self.url = url
        self.userIDPointer = userIDPointer
        self.cacheTime = cacheTime
    }

    package func userID(in answer: [UInt8]) -> UserID? {
        guard let body = try? JSONValue(parsing: answer), let value = body.value(at: userIDPointer) else { return nil }
        guard let id = value.idText.flatMap({ UserID($0) }), !id.isReserved else { return nil }
        return id
    }
}

extension UserTokenIntrospection {
    /// The introspection as it is written, stored and shown.
    package var json: JSONValue {
        [
            "url": .string(url), "userIdPointer": .string(userIDPointer),
            "cacheSeconds": JSONValue(cacheTime),
        ]
    }

    /// Reads what ``json`` wrote, or an admin; `nil` after noting what is wrong. Where it may lead is the caller's to check.
    package init?(_ reader: inout JSONObjectReader) {
        let url = reader.string("url", required: true, maximumBytes: OutboundURL.maximumBytes, nonEmpty: true)
        let pointer = reader.string("userIdPointer", required: true, maximumBytes: Self.maximumPointerBytes)
        let cacheTime = reader.integer("cacheSeconds", in: Self.cacheTimes)
        guard let url, let pointer else { return nil }
        guard !pointer.isEmpty, JSONPointer.steps(of: pointer) != nil else {
            reader.refuse("userIdPointer", "must be a JSON Pointer to a member, such as /userId")
            return nil
        }
        self.init(url: url, userIDPointer: pointer, cacheTime: cacheTime ?? Self.defaultCacheTime)
    }
}
