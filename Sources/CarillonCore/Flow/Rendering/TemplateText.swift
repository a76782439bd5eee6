/// One checked text of a template, ready to be filled.
struct TemplateText: Sendable, Equatable {
    /// What it is made of, in order.
    let segments: [TemplateSegment]
    /// How its language is written: names that run the other way are isolated.
    let direction: TextDirection

    var namesChannel: Bool { segments.contains(.argument(.channel)) }

    /// The text with its placeholders replaced, on one line for titles, and cut to its limits.
    ///
    /// Arguments are inserted once and literally, so nothing in them is read as a placeholder.
    func filled(with subject: NotificationSubject, as part: TemplatePart) -> String {
        var result = ""
        for segment in segments {
            // What lies beyond the limit is cut off below: a long message is not copied for nothing.
            guard result.utf8.count <= part.maximumBytes else { break }
            switch segment {
            case .text(let text): result.append(text)
            case .argument(let argument): append(subject.value(of: argument), to: &result, as: part)
            }
        }
        return result.shortened(toCharacters: part.maximumCharacters, bytes: part.maximumBytes)
    }

    private func append(_ value: NotificationSubject.Value, to result: inout String, as part: TemplatePart) {
        switch value {
        case .words(let words):
            result.append(words.withoutControls(onOneLine: part == .title, maximumBytes: part.maximumBytes))
        case .count(let count):
            result.append(String(count))
        case .name(let name):
            let name = name.withoutControls(onOneLine: part == .title, maximumBytes: part.maximumBytes)
            if let own = TextDirection(firstStrongIn: name), own != direction {
                result.append("\u{2068}")
                result.append(name)
                result.append("\u{2069}")
            } else {
                result.append(name)
            }
        }
    }
}

enum TemplateSegment: Sendable, Equatable {
    case text(String)
    case argument(TemplateArgument)
}

extension TemplatePart {
    /// The most characters (grapheme clusters) that are shown, the ellipsis included.
    var maximumCharacters: Int {
        switch self {
        case .title: 200
        case .body: 2_000
        }
    }

    /// The most bytes of UTF-8: a character may have any number of combining marks, a notification may not.
    ///
    /// 64 for each character, more than the longest emoji of Unicode has.
    var maximumBytes: Int { 64 * maximumCharacters }
}
