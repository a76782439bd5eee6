extension TemplateSource {
    /// Reads `{"title":…,"body":…}`, each of them a string or an object by variant; the texts themselves are not checked yet.
    ///
    /// - Parameters:
    ///   - json: The template.
    ///   - pointer: Where it stands in the body of a request, a JSON Pointer.
    /// - Throws: `invalid-template` with every member that is missing, unknown or of the wrong type.
    package init(json: JSONValue, at pointer: String = "") throws(InvalidInput) {
        self = try json.read(as: "invalid-template", at: pointer) { template in
            // How long the texts may be is checked with their placeholders.
            let title = Self.wording("title", in: &template)
            let body = Self.wording("body", in: &template)
            return TemplateSource(title: title ?? .variants([:]), body: body ?? .variants([:]))
        }
    }

    /// The template as ``init(json:at:)`` reads it.
    package var json: JSONObject { ["title": title.json, "body": body.json] }

    private static func wording(_ key: String, in template: inout JSONObjectReader) -> TemplateWording? {
        switch template.value(key, required: true) {
        case nil:
            return nil
        case .string(let text):
            return .one(text)
        case .object:
            guard var reader = template.object(key) else { return nil }
            var texts: [TemplateVariant: String] = [:]
            for variant in TemplateVariant.allCases {
                if let text = reader.string(variant.rawValue, maximumBytes: .max) { texts[variant] = text }
            }
            reader.finish()
            return .variants(texts)
        default:
            template.refuse(key, "must be a string, or an object of strings by variant")
            return nil
        }
    }
}

extension TemplateWording {
    fileprivate var json: JSONValue {
        switch self {
        case .one(let text):
            return .string(text)
        case .variants(let texts):
            return .object(
                JSONObject(TemplateVariant.allCases.map { ($0.rawValue, texts[$0].map(JSONValue.string)) })
            )
        }
    }
}
