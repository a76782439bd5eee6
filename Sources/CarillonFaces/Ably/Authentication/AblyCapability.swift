import CarillonCore

/// What the holder of a key or a token may do on which channels, as Ably writes it: `{"chat:*":["push-subscribe","publish"]}`.
struct AblyCapability: Sendable, Equatable {
    enum Operation: String {
        case pushAdmin = "push-admin"
        case pushSubscribe = "push-subscribe"
        case publish, history
    }

    /// All that Ably knows: the keys of existing clients may name them, although some mean nothing here.
    static let known: Set<String> = [
        "*", "annotation-publish", "annotation-subscribe", "channel-metadata", "history", "message-delete-any",
        "message-delete-own", "message-update-any", "message-update-own", "object-publish", "object-subscribe",
        "presence",
        "presence-subscribe", "privileged-headers", "publish", "push-admin", "push-subscribe", "statistics", "stats",
        "subscribe",
    ]
    /// More resources than a sensible capability has; two capabilities are compared resource by resource.
    static let maximumCount = 200

    private var operations: [String: Set<String>]

    private init(_ operations: [String: Set<String>]) {
        self.operations = operations.filter { !$0.value.isEmpty }
    }

    static let nothing = AblyCapability([:])
    /// What a device may do that proves who it is.
    static let device = AblyCapability(["*": [Operation.pushSubscribe.rawValue]])

    /// Reads a capability, or a text that is one; `nil` for anything else.
    init?(_ value: JSONValue) {
        var value = value
        if case .string(let text) = value {
            guard let parsed = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
            value = parsed
        }
        guard case .object(let object) = value, object.count <= Self.maximumCount else { return nil }
        var operations: [String: Set<String>] = [:]
        for (resource, list) in object.members {
            guard case .array(let elements) = list else { return nil }
            let names = elements.compactMap(\.text)
            guard names.count == elements.count, names.count <= Self.known.count else { return nil }
            operations[resource] = Set(names)
        }
        self.init(operations)
    }

    var isEmpty: Bool { operations.isEmpty }

    /// What of this a device keeps that its holder registers: it may subscribe where they may, and everywhere where everything is theirs.
    var ofDevice: AblyCapability {
        guard !allows(.pushAdmin) else { return .device }
        return AblyCapability(
            operations.filter { Self.allow($0.value, .pushSubscribe) }
                .mapValues { _ in [Operation.pushSubscribe.rawValue] }
        )
    }

    /// The capability, its resources and operations in order.
    var json: JSONObject {
        JSONObject(operations.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value.sorted())) })
    }

    var text: String { JSONValue.object(json).serializedText }

    func allows(_ operation: Operation, on channel: String) -> Bool {
        operations.contains { resource, names in
            Self.allow(names, operation) && Self.covers(resource, channel)
        }
    }

    func allows(_ operation: Operation) -> Bool { operations.values.contains { Self.allow($0, operation) } }

    func cut(to other: AblyCapability) -> AblyCapability {
        var both: [String: Set<String>] = [:]
        for (resource, names) in operations {
            for (otherResource, otherNames) in other.operations {
                guard let common = Self.intersection(resource, otherResource) else { continue }
                both[common, default: []].formUnion(Self.intersection(names, otherNames))
            }
        }
        return AblyCapability(both)
    }

    private static func allow(_ names: Set<String>, _ operation: Operation) -> Bool {
        names.contains(operation.rawValue) || names.contains("*")
    }

    private static func intersection(_ names: Set<String>, _ others: Set<String>) -> Set<String> {
        if names.contains("*") { return others }
        return others.contains("*") ? names : names.intersection(others)
    }

    private static func intersection(_ resource: String, _ other: String) -> String? {
        if covers(resource, other) { return other }
        return covers(other, resource) ? resource : nil
    }

    /// Whether a resource stands for a channel, or for all that another resource stands for.
    private static func covers(_ resource: String, _ other: String) -> Bool {
        if resource == "[*]*" { return true }
        if resource == "*" { return !other.utf8.starts(with: "[".utf8) }
        guard let prefix = prefix(of: resource) else { return resource.utf8.elementsEqual(other.utf8) }
        return other != "[*]*" && other.utf8.starts(with: prefix)
    }

    /// What the channels of a namespace begin with; `nil` for a resource that is one channel.
    private static func prefix(of resource: String) -> Substring.UTF8View? {
        guard resource.utf8.last == UInt8(ascii: "*") else { return nil }
        let prefix = resource.utf8.dropLast()
        return prefix.last == UInt8(ascii: ":") || prefix.last == UInt8(ascii: "]")
            ? Substring(resource).utf8.dropLast() : nil
    }
}
