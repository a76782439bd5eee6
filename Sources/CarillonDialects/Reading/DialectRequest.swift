package import CarillonCore
import Synchronization

/// A post as it arrived, apart from the connection.
package struct DialectRequest: Sendable {
    /// The path and query as they were sent, such as `/v1/networks/acme/events/cloudevents?bodySHA256=…`.
    package var target: String
    /// The query's parameters, decoded, in their order.
    package var query: [(name: String, value: String)]
    /// The header fields with their names in small letters, in their order.
    package var headers: [(name: String, value: String)]
    /// The body, unpacked where it was packed.
    package var body: [UInt8] {
        didSet { parsed = Parsed() }
    }

    /// How JSON is read that holds what users wrote: one of them must not be able to silence the others. What they are called by is
    /// cleaned, what else cannot be stored is left out.
    static let limits = JSONLimits(
        unstorable: .leftOut(cleaning: [
            "FriendlyName", "alias", "channel_name", "displayName", "displayname", "fname", "name", "nickname",
            "subject",
            "user_name", "username",
        ])
    )

    /// What the body is as JSON: some prove themselves by what is in it, which is then read twice.
    private var parsed = Parsed()

    private final class Parsed: Sendable {
        let value = Mutex<JSONValue?>(nil)
    }

    package init(
        target: String = "",
        query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [],
        body: [UInt8]
    ) {
        self.target = target
        self.query = query
        self.headers = headers.map { ($0.name.lowercased(), $0.value) }
        self.body = body
    }

    func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// The value of a header field that proves something, and may therefore be there only once.
    func proof(_ name: String) throws(DialectRefusal) -> String? {
        let values = values(name)
        guard values.count <= 1 else { throw .unproven("\(name) is given more than once") }
        return values.first
    }

    /// The value of a header field without which nothing is proven.
    func proof(_ name: String, called title: String) throws(DialectRefusal) -> String {
        guard let value = try proof(name) else { throw .unproven("\(title) is missing") }
        return value
    }

    /// The value of a parameter that may be there only once.
    func parameter(_ name: String) throws(DialectRefusal) -> String? {
        let values = query.filter { $0.name == name }.map(\.value)
        guard values.count <= 1 else { throw .unproven("the parameter \(name) is given more than once") }
        return values.first
    }

    /// The body as JSON, whatever it is.
    func value() throws(DialectRefusal) -> JSONValue {
        if let value = parsed.value.withLock(\.self) { return value }
        do throws(JSONSyntaxError) {
            let value = try JSONValue(parsing: body, limits: Self.limits)
            parsed.value.withLock { $0 = value }
            return value
        } catch {
            throw .invalid(InvalidInput(error))
        }
    }

    /// The body as a JSON object.
    func object() throws(DialectRefusal) -> JSONValue {
        let value = try value()
        guard case .object = value else { throw .malformed("", "must be an object") }
        return value
    }
}

/// A request whose sender is known, and what it is read by.
package struct DialectPost {
    let request: DialectRequest
    let settings: DialectSettings
    let now: Timestamp

    var bytes: [UInt8] { request.body }
    var clock: SenderClock { SenderClock(now: now) }

    func object() throws(DialectRefusal) -> JSONValue { try request.object() }
}

/// Why a post is not taken.
package enum DialectRefusal: Error, Sendable, Equatable {
    /// It does not prove that it comes from whom it should: said without anything of what it has.
    case unproven(String)
    /// It proves nothing, but its sender is not to be told: the same comes along with a proof.
    case dropped(String)
    case invalid(InvalidInput)
    case unsupportedType(String)

    static func malformed(_ pointer: String, _ detail: String) -> Self {
        .invalid(InvalidInput(problem: "invalid-event", pointer: pointer, detail: detail))
    }

    /// Why, in words for the network's admins.
    package var reason: String {
        switch self {
        case .unproven(let reason), .dropped(let reason), .unsupportedType(let reason): reason
        case .invalid(let input):
            input.errors.first.map { $0.pointer.isEmpty ? $0.detail : "\($0.pointer) \($0.detail)" } ?? input.problem
        }
    }
}

extension JSONValue {
    /// What a body is about: the member that tells, without which it is none of the dialect's.
    func discriminator(_ key: String) throws(DialectRefusal) -> String {
        guard let text = self[key]?.text, !text.isEmpty else { throw .malformed("/\(key)", "is required") }
        return text
    }
}
