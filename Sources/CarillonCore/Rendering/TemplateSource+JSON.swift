extension TemplateSource {
    /// Reads `{"title":…,"body":…}`, the body a string or an object by variant; the texts themselves are not checked yet.
    ///
    /// - Parameters:
    ///   - json: The template.
    ///   - pointer: Where it stands in the body of a request, a JSON Pointer.
    /// - Throws: `invalid-template` with every member that is missing, unknown or of the wrong type.
    package init(json: JSONValue, at pointer: String = "") throws(InvalidInput) {
        let errors = InputErrors()
        var template = JSONObjectReader(json, at: pointer, unknown: .refuse, into: errors)
        // How long the texts may be is checked with their placeholders.
        let title = template.string("title", required: true, maximumBytes: .max)
        let body = Self.body(in: &template, errors: errors)
        template.finish()
        try errors.throwIfAny(problem: "invalid-template")
        self.init(title: title ?? "", body: body ?? .variants([:]))
    }

    /// The template as ``init(json:at:)`` reads it.
    package var json: JSONValue {
        switch body {
        case .one(let text):
            return ["title": .string(title), "body": .string(text)]
        case .variants(let texts):
            var body = JSONObject()
            for variant in TemplateVariant.allCases {
                if let text = texts[variant] { body[variant.rawValue] = .string(text) }
            }
            return ["title": .string(title), "body": .object(body)]
        }
    }

    private static func body(in template: inout JSONObjectReader, errors: InputErrors) -> TemplateBody? {
        switch template.value("body", required: true) {
        case nil:
            return nil
        case .string(let text):
            return .one(text)
        case .object(let object):
            let pointer = template.pointer(to: "body")
            var reader = JSONObjectReader(.object(object), at: pointer, unknown: .refuse, into: errors)
            var texts: [TemplateVariant: String] = [:]
            for variant in TemplateVariant.allCases {
                if let text = reader.string(variant.rawValue, maximumBytes: .max) { texts[variant] = text }
            }
            reader.finish()
            return .variants(texts)
        default:
            template.refuse("body", "must be a string, or an object of strings by variant")
            return nil
        }
    }
}
