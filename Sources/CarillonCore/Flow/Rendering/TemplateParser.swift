/// Reads one text of a template into its segments.
///
/// - `%s` is the next argument, counted apart from the others; `%1s` and `%1$s` are the first; `%%` is a percent sign.
/// - `{{Name}}` is an argument by name, spelled exactly so: no spaces, same case.
/// - `{{` always begins a placeholder; a single brace and `}}` are text.
///
/// Columns count characters from 1 within their line.
struct TemplateParser {
    private let text: String
    private let positional: [TemplateArgument]
    private let named: [TemplateArgument]
    private let isTitle: Bool
    private var position: String.Index
    private var nextArgument = 0

    /// What is wrong with a template, for the person who writes it.
    struct Failure: Error, Equatable {
        /// The sentence, which begins with the place.
        var detail: String
    }

    init(_ text: String, of eventType: EventType, part: TemplatePart) {
        self.text = text
        positional = eventType.kind.arguments(in: part)
        // Title and body may use them alike, whatever their positions are.
        let all = eventType.kind.arguments(in: .title) + eventType.kind.arguments(in: .body)
        named = TemplateArgument.allCases.filter { $0.name != nil && all.contains($0) }
        isTitle = part == .title
        position = text.startIndex
    }

    /// The segments of the text, neighbouring literals joined.
    mutating func parse() throws(Failure) -> [TemplateSegment] {
        var segments: [TemplateSegment] = []
        var literal = ""
        while position < text.endIndex {
            // Bytes, not characters: a combining mark behind a percent sign must not hide it.
            switch text.utf8[position] {
            case UInt8(ascii: "%"):
                guard let argument = try parsePercent() else {
                    literal.append("%")
                    continue
                }
                Self.append(literal, to: &segments, isTitle: isTitle)
                literal = ""
                segments.append(.argument(argument))
            case UInt8(ascii: "{") where text[position...].utf8.starts(with: "{{".utf8):
                let argument = try parseName()
                Self.append(literal, to: &segments, isTitle: isTitle)
                literal = ""
                segments.append(.argument(argument))
            default:
                let start = position
                let isText: (UInt8) -> Bool = { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "{") }
                text.utf8.formIndex(after: &position)
                position = text.utf8[position...].firstIndex { !isText($0) } ?? text.endIndex
                literal.unicodeScalars.append(contentsOf: text.unicodeScalars[start..<position])
            }
        }
        Self.append(literal, to: &segments, isTitle: isTitle)
        return segments
    }

    /// Reads from a percent sign on; `nil` means `%%`.
    private mutating func parsePercent() throws(Failure) -> TemplateArgument? {
        let start = position
        text.utf8.formIndex(after: &position)
        let digits = text.utf8[position...].prefix(while: \.isASCIIDigit)
        var end = digits.endIndex
        if !digits.isEmpty, text.utf8[end...].first == UInt8(ascii: "$") { text.utf8.formIndex(after: &end) }
        guard end < text.endIndex else { throw lonePercent(at: start) }
        switch text.utf8[end] {
        case UInt8(ascii: "%") where digits.isEmpty:
            position = text.utf8.index(after: end)
            return nil
        case UInt8(ascii: "s"):
            position = text.utf8.index(after: end)
            let number: Int?
            if digits.isEmpty {
                nextArgument += 1
                number = nextArgument
            } else {
                number = Int(Substring(digits))
            }
            guard let number, positional.indices.contains(number - 1) else {
                let has = positional.count == 1 ? "1 argument" : "\(positional.count) arguments"
                let part = isTitle ? "title" : "body"
                throw failure(at: start, "there is no such argument: the \(part) of this event has \(has)")
            }
            return positional[number - 1]
        case let byte where byte.isASCIILetter:
            throw failure(at: start, "unknown placeholder: after '%' only 's', '1s', '1$s' and '%' are known")
        default:
            throw lonePercent(at: start)
        }
    }

    private mutating func parseName() throws(Failure) -> TemplateArgument {
        let rest = text[position...].utf8
        for argument in TemplateArgument.allCases {
            guard let name = argument.name else { continue }
            let placeholder = "{{\(name)}}".utf8
            guard rest.starts(with: placeholder) else { continue }
            guard named.contains(argument) else {
                throw failure(at: position, "this event has no \(name); it has \(knownNames)")
            }
            position = text.utf8.index(position, offsetBy: placeholder.count)
            return argument
        }
        throw failure(at: position, "unknown placeholder: '{{' begins one of \(knownNames)")
    }

    private var knownNames: String {
        named.compactMap(\.name).map { "{{\($0)}}" }.joined(separator: ", ")
    }

    private func lonePercent(at start: String.Index) -> Failure {
        failure(at: start, "a lone '%': write '%%' for a percent sign")
    }

    private func failure(at index: String.Index, _ problem: String) -> Failure {
        let before = text.unicodeScalars[..<index]
        let line = before.count { $0 == "\n" } + 1
        let inLine = before.lastIndex(of: "\n").map { before[before.index(after: $0)...] } ?? before
        let column = String(inLine).count + 1
        return Failure(detail: "\(line > 1 ? "line \(line), " : "")column \(column): \(problem)")
    }

    private static func append(_ literal: String, to segments: inout [TemplateSegment], isTitle: Bool) {
        guard !literal.isEmpty else { return }
        // The admin's own bidi controls stay: they set the sentence, and do not come from a stranger.
        segments.append(.text(literal.withoutControls(keepingBidi: true, onOneLine: isTitle)))
    }
}
