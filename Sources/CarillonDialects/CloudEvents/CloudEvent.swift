import CarillonCore

/// What we need of a CloudEvent.
struct CloudEvent {
    enum Payload {
        case none
        case json(JSONValue)
        /// Bytes that should be JSON.
        case bytes([UInt8])
    }

    var specVersion: JSONValue?
    var id: JSONValue?
    var source: JSONValue?
    var type: JSONValue?
    var time: JSONValue?
    var payload: Payload
    /// Whether there is data in both of its forms.
    var hasTwoPayloads = false
    /// What its extension for distributed tracing says, if that is right; in JSON it may stand under `extensions`, as it once did.
    var trace: TraceContext?

    init(_ json: JSONValue) {
        (specVersion, id, source, type) = (json["specversion"], json["id"], json["source"], json["type"])
        time = json["time"]
        trace =
            [json["traceparent"], json["extensions"]?["traceparent"]].lazy
            .compactMap { $0?.text.flatMap(TraceContext.init) }.first
        let packed = json["data_base64"]
        hasTwoPayloads = packed != nil && json["data"] != nil
        if let packed {
            payload = .bytes(packed.text.flatMap { Proof.bytes(base64: $0) } ?? [])
        } else {
            payload = json["data"].map(Payload.json) ?? .none
        }
    }

    init(headersOf request: DialectRequest) throws(DialectRefusal) {
        specVersion = try Self.attribute("specversion", of: request)
        id = try Self.attribute("id", of: request)
        source = try Self.attribute("source", of: request)
        type = try Self.attribute("type", of: request)
        time = try Self.attribute("time", of: request)
        trace = try Self.attribute("traceparent", of: request)?.text.flatMap(TraceContext.init)
        payload = request.body.isEmpty ? .none : .bytes(request.body)
        // Those that mean nothing here have to be right all the same, but for the one that must not be there.
        for name in Set(request.headers.map(\.name)).sorted()
        where name.hasPrefix("ce-") && name != "ce-datacontenttype" {
            _ = try Self.attribute(String(name.dropFirst(3)), of: request)
        }
    }

    /// One pair of quotes around a value is taken away, and what is percent-encoded is decoded once.
    private static func attribute(_ name: String, of request: DialectRequest) throws(DialectRefusal) -> JSONValue? {
        let values = request.values("ce-\(name)")
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw .malformed("/\(name)", "is given more than once") }
        guard let text = PercentEncoding.decodeLeniently(unquoted(value)), !text.utf8.contains(0) else {
            throw .malformed("/\(name)", "must be percent-encoded UTF-8")
        }
        return .string(text)
    }

    private static func unquoted(_ value: String) -> String {
        guard value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return value }
        var text = ""
        var isEscaped = false
        for character in value.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                text.append(character)
                isEscaped = false
            }
        }
        return text
    }
}
