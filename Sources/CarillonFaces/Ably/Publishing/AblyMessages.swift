import CarillonCore

/// Messages that are published together: what of them is pushed, and what they are called.
struct AblyMessages: Sendable {
    private static let maximumCount = 1_000

    /// A message, as far as anybody here looks at it.
    struct Message: Sendable {
        /// What it is recognised by when it comes again.
        let id: String
        let push: AblyPayload?
    }

    /// What their ids have in common.
    let base: String
    let messages: [Message]

    /// Reads one message or an array of them; a token's client publishes as no other.
    ///
    /// - Throws: What is wrong with any of them; none is published then.
    init(_ value: JSONValue, by caller: AblyCaller) throws(AblyError) {
        let elements = value.oneOrMore
        guard (1...Self.maximumCount).contains(elements.count) else {
            throw .body("1 to \(Self.maximumCount) messages are published together")
        }
        var given: [String] = []
        var pushes: [AblyPayload?] = []
        for element in elements {
            guard case .object(let message) = element else { throw .body("a message must be an object") }
            try Self.checkClient(of: message, caller)
            guard message["name"] ?? .null == .null else { throw .body("a message's name must be a string") }
            if let id = try message.ablyText("id", else: { .messageIDs("a message's \($0)") }) {
                guard (1...256).contains(id.utf8.count) else {
                    throw .messageIDs("a message's id must be 1 to 256 bytes")
                }
                given.append(id)
            }
            let extras = try message.ablyObject("extras", else: AblyError.extras)
            let push = try extras?.ablyObject("push") { .extras("extras.\($0)") }
            pushes.append(try push.map { push throws(AblyError) in try AblyPayload(push) })
        }
        let base = try Self.base(of: given, count: elements.count)
        self.base = base
        let ids = given.isEmpty ? elements.indices.map { "\(base):\($0)" } : given
        messages = zip(ids, pushes).map { Message(id: $0, push: $1) }
    }

    /// What the id of a message has in common with those that it was published with.
    static func base(of id: String) -> String { split(id).base }

    /// Takes the content out of messages that a body holds: nobody here looks at it, so that it may be anything. So is a name that is
    /// a text.
    static func withoutContent(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map(withoutContent))
        case .object(var object):
            object["data"] = nil
            if case .string(let name)? = object["name"], !name.utf8.contains(0) { object["name"] = nil }
            if let messages = object["messages"] { object["messages"] = withoutContent(messages) }
            return .object(object)
        default: return value
        }
    }

    private static func checkClient(of message: JSONObject, _ caller: AblyCaller) throws(AblyError) {
        guard let client = try message.ablyText("clientId") else { return }
        switch caller.client {
        case .any: return
        case .named(let own): guard own.rawValue == client else { throw .client }
        case .none: guard caller.holdsKey else { throw .client }
        }
    }

    /// What ids have in common that end in `:0`, `:1` and so on.
    private static func base(of ids: [String], count: Int) throws(AblyError) -> String {
        guard let first = ids.first else { return Base64URL.encode(randomBytes(9)) }
        guard ids.count == count else { throw .messageIDs("either all messages have an id, or none has") }
        let head = base(of: first)
        guard count > 1 else { return head }
        for (index, id) in ids.enumerated() {
            let (base, number) = split(id)
            guard base == head, number == index else {
                throw .messageIDs(
                    "ids of messages that are published together are one text with :0, :1 and so on behind it"
                )
            }
        }
        return head
    }

    private static func split(_ id: String) -> (base: String, number: Int?) {
        guard let colon = id.lastIndex(of: ":"), colon > id.startIndex, let number = Int(id[id.index(after: colon)...]),
            number >= 0
        else { return (id, nil) }
        return (String(id[..<colon]), number)
    }
}
