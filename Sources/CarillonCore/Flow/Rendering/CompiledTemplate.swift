/// A template that was checked: it can be filled with any event of its type.
package struct CompiledTemplate: Sendable {
    package let eventType: EventType
    package let locale: LocaleTag
    package let source: TemplateSource

    let title: CompiledWording
    let body: CompiledWording

    /// Checks a template (API section 7).
    ///
    /// - Parameters:
    ///   - source: The template.
    ///   - eventType: The type of event that it is for.
    ///   - locale: The language that it is in.
    ///   - pointer: Where in the body of a request the template stands, a JSON Pointer.
    /// - Throws: `invalid-template` with the first mistake of each text: unknown or impossible placeholders and lone
    ///   percent signs with their column, empty and over-long texts, variants that the event type does not have.
    package init(
        _ source: TemplateSource,
        for eventType: EventType,
        locale: LocaleTag,
        at pointer: String = ""
    ) throws(InvalidInput) {
        var checker = TemplateChecker(eventType: eventType, direction: TextDirection(of: locale), pointer: pointer)
        title = checker.wording(source.title, of: .title)
        body = checker.wording(source.body, of: .body)
        guard checker.errors.isEmpty else { throw InvalidInput(problem: "invalid-template", errors: checker.errors) }
        self.eventType = eventType
        self.locale = locale
        self.source = source
    }
}

/// A title or a body that was checked.
struct CompiledWording: Sendable {
    /// The text that all variants share, where they do.
    var common: TemplateText?
    /// The texts of variants that have their own.
    var variants: [TemplateVariant: TemplateText] = [:]
}

private struct TemplateChecker {
    let eventType: EventType
    let direction: TextDirection
    let pointer: String
    var errors: [FieldError] = []

    init(eventType: EventType, direction: TextDirection, pointer: String) {
        self.eventType = eventType
        self.direction = direction
        self.pointer = pointer
        if !eventType.hasTemplates { report("there are no templates for this type of event", at: "") }
    }

    mutating func wording(_ wording: TemplateWording, of part: TemplatePart) -> CompiledWording {
        switch wording {
        case .one(let text): CompiledWording(common: self.text(text, part: part, at: "/\(part.rawValue)"))
        case .variants(let texts): CompiledWording(variants: variants(texts, of: part))
        }
    }

    private mutating func text(_ text: String, part: TemplatePart, at place: String) -> TemplateText {
        let limit = part == .title ? TemplateSource.maximumTitleBytes : TemplateSource.maximumBodyBytes
        var segments: [TemplateSegment] = []
        if text.isEmpty {
            report("must not be empty", at: place)
        } else if text.utf8.count > limit {
            report("must have at most \(limit) bytes", at: place)
        } else if eventType.hasTemplates {
            var parser = TemplateParser(text, of: eventType, part: part)
            do throws(TemplateParser.Failure) {
                segments = try parser.parse()
            } catch {
                report(error.detail, at: place)
            }
        }
        return TemplateText(segments: segments, direction: direction)
    }

    private mutating func variants(
        _ texts: [TemplateVariant: String],
        of part: TemplatePart
    ) -> [TemplateVariant: TemplateText] {
        let known = part == .title ? eventType.titleVariants : eventType.kind.variants
        guard !known.isEmpty else {
            report("this event has no variants: the \(part.rawValue) must be one string", at: "/\(part.rawValue)")
            return [:]
        }
        var compiled: [TemplateVariant: TemplateText] = [:]
        for variant in TemplateVariant.allCases {
            guard let text = texts[variant] else { continue }
            let place = "/\(part.rawValue)/\(variant.rawValue)"
            if known.contains(variant) {
                compiled[variant] = self.text(text, part: part, at: place)
            } else {
                let names = known.map { "'\($0.rawValue)'" }.joined(separator: ", ")
                let detail = "this event has no such variant of the \(part.rawValue); it has \(names)"
                report(detail, at: place)
            }
        }
        return compiled
    }

    private mutating func report(_ detail: String, at place: String) {
        errors.append(FieldError(pointer: pointer + place, detail: detail))
    }
}
